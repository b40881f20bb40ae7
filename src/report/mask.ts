import type { Action } from '../kernel/action.ts';
import { type EffectTypes, typeOf } from '../kernel/effect-type.ts';
import { HIDDEN } from '../kernel/hidden.ts';
import type { PlannedObject, PlannedStage, TwoWayField } from '../kernel/plan.ts';

/** A plan as it may be shown: Secrets without values, file contents by their size. Checksums are for saved plans only. */
export function maskedStage(effects: EffectTypes, { digests: _, ...stage }: PlannedStage): PlannedStage {
  return {
    ...stage,
    actions: stage.actions.map((action) => maskedAction(effects, action)),
    objects: stage.objects.map(maskedObject),
    twoWay: stage.twoWay?.map(maskedTwoWay),
  };
}

export function maskedObject({ state: _, bodies: __, ...object }: PlannedObject): PlannedObject {
  if (object.ref.kind !== 'Secret') return object;
  return { ...object, fields: object.fields.map(({ path, before, after }) => ({ path, before: hidden(before), after: hidden(after) })) };
}

export function maskedTwoWay(field: TwoWayField): TwoWayField {
  if (field.ref.kind !== 'Secret') return field;
  return { ...field, live: HIDDEN, target: hidden(field.target) };
}

const hidden = (value: unknown) => (value === undefined ? undefined : HIDDEN);

/** `keep` never leaves: it is for the record in the cluster, not for screens and reports. */
export function maskedAction(effects: EffectTypes, { keep: _, ...action }: Action): Action {
  return { ...action, effect: typeOf(effects, action.effect).mask(action.effect) };
}
