import type { Action } from '../kernel/action.ts';
import type { Edit } from '../kernel/edit.ts';
import { type EffectTypes, typeOf } from '../kernel/effect-type.ts';
import { HIDDEN, maskValue } from '../kernel/hidden.ts';
import type { PlannedObject, PlannedStage, TwoWayField } from '../kernel/plan.ts';

/** A plan as it may be shown: no values of Secrets and no credentials, file contents by their size. Checksums are for saved plans only, what is kept for the record. */
export function maskedStage(
  effects: EffectTypes,
  { digests: _, keeps: __, actions, objects, edits, twoWay, ...stage }: PlannedStage,
): PlannedStage {
  return {
    ...maskValue(stage),
    actions: actions.map((action) => maskedAction(effects, action)),
    objects: objects.map(maskedObject),
    ...(edits === undefined ? {} : { edits: edits.map(maskedEdit) }),
    ...(twoWay === undefined ? {} : { twoWay: twoWay.map(maskedTwoWay) }),
  };
}

export function maskedObject({ state: _, bodies: __, ...object }: PlannedObject): PlannedObject {
  if (object.ref.kind !== 'Secret') return maskValue(object);
  return { ...object, fields: object.fields.map(({ path, before, after }) => ({ path, before: hidden(before), after: hidden(after) })) };
}

/** Of a Secret it has no values. */
export const maskedEdit = (edit: Edit): Edit => maskValue(edit);

export function maskedTwoWay(field: TwoWayField): TwoWayField {
  if (field.ref.kind !== 'Secret') return maskValue(field);
  return { ...field, live: HIDDEN, target: hidden(field.target) };
}

const hidden = (value: unknown) => (value === undefined ? undefined : HIDDEN);

/** `keep` never leaves: it is for the record in the cluster, not for screens and reports. */
export function maskedAction(effects: EffectTypes, { keep: _, ...action }: Action): Action {
  return maskValue({ ...action, effect: typeOf(effects, action.effect).mask(action.effect) });
}
