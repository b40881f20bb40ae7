import type { Context } from '../../kernel/context.ts';
import type { EffectTypes } from '../../kernel/effect-type.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import type { ObjectState, PlannedObject, PlannedStage } from '../../kernel/plan.ts';
import { actionDigest, objectDigest } from './digest.ts';

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
