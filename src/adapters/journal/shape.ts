import type { JournalEntry } from '../../kernel/owner-journal.ts';

type Fields = Readonly<Record<string, unknown>>;

/** True if the value is an entry from which a patch can be made: every place names a reference, every reference is whole. */
export function isEntry(value: unknown): value is JournalEntry {
  if (!isFields(value) || !isFields(value.object)) return false;
  const { object, references, removed, owners } = value;
  if (
    !hasTexts(object, ['apiVersion', 'kind', 'name', 'uid', 'plural']) ||
    ![object.namespace, object.backingUid, object.madeAt].every(isTextOrAbsent)
  )
    return false;
  if (!isListOf(references, isReference) || !isListOf(owners, isFields) || !isListOf(removed, isInteger)) return false;
  return (
    owners.length === removed.length &&
    removed.every((place, index) => isPlace(place, index, removed, references) && fits(owners[index], place))
  );
}

function isPlace(place: number, index: number, removed: readonly number[], references: readonly unknown[]): boolean {
  return place >= 0 && place < references.length && (index === 0 || place > (removed[index - 1] ?? -1));
}

function fits(owner: Fields | undefined, place: number): boolean {
  if (!owner || owner.place !== place) return false;
  return (
    hasTexts(owner, ['group', 'kind', 'name']) &&
    [owner.namespace, owner.backingUid, owner.expectedUid, owner.madeAt, owner.restoredUid].every(isTextOrAbsent)
  );
}

function isReference(value: unknown): value is Fields {
  if (!isFields(value) || !hasTexts(value, ['apiVersion', 'kind', 'name', 'uid'])) return false;
  return [value.controller, value.blockOwnerDeletion].every((flag) => flag === undefined || typeof flag === 'boolean');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value);
}

function isListOf<T>(value: unknown, is: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(is);
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function hasTexts(value: Fields, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'string');
}
