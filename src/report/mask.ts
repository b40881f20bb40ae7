import type { Action, Effect } from '../kernel/action.ts';
import { HIDDEN } from '../kernel/hidden.ts';
import type { PlannedObject, PlannedStage, TwoWayField } from '../kernel/plan.ts';

/** A plan as it may be shown: Secrets without values, file contents by their size. Checksums are for saved plans only. */
export function maskedStage({ digests: _, ...stage }: PlannedStage): PlannedStage {
  return {
    ...stage,
    actions: stage.actions.map(maskedAction),
    objects: stage.objects.map(maskedObject),
    ...(stage.twoWay ? { twoWay: stage.twoWay.map(maskedTwoWay) } : {}),
  };
}

export function maskedObject({ state: _, ...object }: PlannedObject): PlannedObject {
  if (object.ref.kind !== 'Secret') return object;
  return {
    ...object,
    fields: object.fields.map(({ path, before, after }) => ({ path, ...hide('before', before), ...hide('after', after) })),
  };
}

export function maskedTwoWay(field: TwoWayField): TwoWayField {
  if (field.ref.kind !== 'Secret') return field;
  return { ...field, live: HIDDEN, ...(field.target === undefined ? {} : { target: HIDDEN }) };
}

function hide<Key extends string>(key: Key, value: unknown): { readonly [key in Key]?: string } {
  return value === undefined ? {} : ({ [key]: HIDDEN } as { readonly [key in Key]: string });
}

/** `keep` never leaves: it is for the record in the cluster, not for screens and reports. */
export function maskedAction({ keep: _, ...action }: Action): Action {
  return { ...action, effect: maskedEffect(action.effect) };
}

function maskedEffect(effect: Effect): Effect {
  switch (effect.type) {
    case 'exec':
      return effect.run.stdin === undefined ? effect : { ...effect, run: { ...effect.run, stdin: sizeOf(effect.run.stdin) } };
    case 'patch':
      if (effect.target.kind !== 'Secret') return effect;
      return { ...effect, patch: effect.patch.map((op) => (op.value === undefined ? op : { ...op, value: HIDDEN })) };
    case 'write':
      return { ...effect, content: sizeOf(effect.content) };
    case 'backup':
      return { ...effect, files: effect.files.map(({ name, content }) => ({ name, content: sizeOf(content) })) };
    default:
      return effect;
  }
}

function sizeOf(text: string): string {
  return `${text.length} characters`;
}
