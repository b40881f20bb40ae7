import { createHash } from 'node:crypto';
import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { type EffectTypes, typeOf } from '../../kernel/effect-type.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import type { ObjectState, PlannedObject, PlannedStage } from '../../kernel/plan.ts';

/** One object as the plan found it. */
export interface BasisObject extends ObjectState {
  readonly stage: string;
  readonly ref: ObjectRef;
  readonly change: PlannedObject['change'];
  /** sha256 of what the plan does to it. */
  readonly does: string;
}

export interface BasisAction {
  readonly stage: string;
  readonly id: string;
  /** Of its effect: `exec`, `patch`. */
  readonly type: string;
  /** sha256 of what it does. */
  readonly does: string;
}

/** What a plan was made from, and what it does, piece by piece: so that a stale one can be told from a true one, and why. */
export interface PlanBasis {
  /** sha256 of artifacts by file name. */
  readonly artifacts: Readonly<Record<string, string>>;
  readonly objects: readonly BasisObject[];
  readonly actions: readonly BasisAction[];
}

export function planBasis(effects: EffectTypes, context: Context, stages: readonly PlannedStage[]): PlanBasis {
  return {
    artifacts: Object.assign({}, ...stages.map(({ digests }) => digests ?? {})) as PlanBasis['artifacts'],
    objects: stages.flatMap(({ id, objects }) =>
      objects.map((object) => ({
        stage: id,
        ref: object.ref,
        change: object.change,
        ...object.state,
        does: objectDigest(context, object),
      })),
    ),
    actions: stages.flatMap(({ id, actions }) =>
      actions.map((action) => ({ stage: id, id: action.id, type: action.effect.type, does: actionDigest(effects, context, action) })),
    ),
  };
}

/**
 * sha256 over what a plan does: equal for the same cluster state and the same artifacts, whenever and wherever it is made.
 * Left out is what differs between two runs without meaning: the work folder, the name of the backup, resourceVersions,
 * limits of waits.
 */
export function planDigest(effects: EffectTypes, context: Context, stages: readonly PlannedStage[]): string {
  const essence = {
    cluster: context.clusterUid,
    release: context.options.release,
    stages: stages.map((stage) => ({
      id: stage.id,
      skipped: stage.skip !== undefined,
      actions: stage.actions.map((action) => ({ id: action.id, effect: essenceOf(effects, action) })),
      objects: stage.objects.map(objectEssence),
    })),
  };
  return digestOf(essence, context);
}

/** sha256 of what one action does, by the same rules. */
export function actionDigest(effects: EffectTypes, context: Context, action: Pick<Action, 'effect'>): string {
  return digestOf(essenceOf(effects, action), context);
}

/** The same of one object: what the plan does to it. */
function objectDigest(context: Context, object: PlannedObject): string {
  return digestOf(objectEssence(object), context);
}

function digestOf(essence: unknown, { workFolder }: Context): string {
  const text = JSON.stringify(essence).replaceAll(JSON.stringify(workFolder).slice(1, -1), '');
  return createHash('sha256').update(text).digest('hex');
}

function essenceOf(effects: EffectTypes, { effect }: Pick<Action, 'effect'>): unknown {
  return typeOf(effects, effect).digest(effect);
}

function objectEssence({ ref, change, fields, hidden, taken }: PlannedObject): unknown {
  return { apiVersion: ref.apiVersion, kind: ref.kind, namespace: ref.namespace, name: ref.name, change, fields, hidden, taken };
}
