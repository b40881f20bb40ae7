import { createHash } from 'node:crypto';
import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { type EffectTypes, typeOf } from '../../kernel/effect-type.ts';
import type { PlannedObject, PlannedStage } from '../../kernel/plan.ts';

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
export function objectDigest(context: Context, object: PlannedObject): string {
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
