import type { FieldTest } from '../../kernel/defect.ts';
import { isRecord, jsonAt } from '../../kernel/json.ts';

export function passes(values: readonly string[], { oneOf, noneOf, absent }: FieldTest): boolean {
  if (values.length === 0) return absent === true || (noneOf !== undefined && !oneOf);
  if (absent && !oneOf && !noneOf) return false;
  return (!oneOf || values.some((value) => oneOf.includes(value))) && !noneOf?.some((value) => values.includes(value));
}

/** Values at a path; of lists on the way every item, of a list at its end its items. */
export function valuesAt(value: unknown, path: readonly string[]): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  const [field, ...rest] = path;
  if (field === undefined) return value === undefined || value === null || value === '' ? [] : [value];
  return isRecord(value) ? valuesAt(jsonAt(value, field), rest) : [];
}
