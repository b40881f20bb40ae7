import { isDeepStrictEqual } from 'node:util';
import { structuredPatch } from 'diff';
import { Document, type YAMLSeq } from 'yaml';
import { isRecord, type JsonMap, textAt } from '../../src/kernel/json.ts';

/** One step to a field: a key, or the entry of a list by its name or mount path. */
type Step = string | { readonly name: string } | { readonly mountPath: string };

/** From the place `at`, counted in what is edited, `gone` parts give way to `come`. */
interface Change<T> {
  readonly at: number;
  readonly gone: number;
  readonly come: readonly T[];
}

/** One edit of a manifest, as data: at a field, or of a whole object (`path` is left out). */
export interface ManifestEdit {
  /** `kind/namespace/name`. */
  readonly object: string;
  readonly path?: readonly Step[];
  /** What is there now: set, or added. */
  readonly value?: unknown;
  readonly removed?: true;
  /** Of a list whose entries have no names: its entries. Of a text: its lines, or its words where it has one line. */
  readonly changes?: readonly Change<unknown>[];
  /** Of a list whose entries have names: these, in the order in which they are now, by what has them. */
  readonly order?: Readonly<Record<string, readonly string[]>>;
}

type FieldEdit = Omit<ManifestEdit, 'object' | 'path'> & { readonly path: readonly Step[] };

/** What leads from one value to the other. */
export function editsBetween(from: unknown, to: unknown, path: readonly Step[] = []): readonly FieldEdit[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (isRecord(from) && isRecord(to)) return fieldEdits(from, to, (key) => [...path, key]);
  if (Array.isArray(from) && Array.isArray(to)) return listEdits(from, to, path);
  if (typeof from === 'string' && typeof to === 'string' && isLong(from))
    return [{ path, changes: changesOf(parts(from), parts(to, from)) }];
  return [{ path, value: to }];
}

function fieldEdits(from: JsonMap, to: JsonMap, step: (key: string) => readonly Step[]): readonly FieldEdit[] {
  const gone = Object.keys(from).filter((key) => !(key in to));
  return [
    ...gone.map((key): FieldEdit => ({ path: step(key), removed: true })),
    ...Object.entries(to).flatMap(([key, value]) =>
      key in from ? editsBetween(from[key], value, step(key)) : [{ path: step(key), value }],
    ),
  ];
}

function listEdits(from: readonly unknown[], to: readonly unknown[], path: readonly Step[]): readonly FieldEdit[] {
  const key = nameKey(from, to);
  if (key === undefined) return [{ path, changes: changesOf(from, to) }];
  const named = (list: readonly unknown[]): JsonMap => Object.fromEntries(list.map((entry) => [textAt(entry, key), entry]));
  const [before, after] = [named(from), named(to)];
  const names = Object.keys(after);
  const kept = Object.keys(before).filter((name) => name in after);
  const unmoved = [...kept, ...names.filter((name) => !(name in before))];
  return [
    ...fieldEdits(before, after, (name) => [...path, { [key]: name } as Step]),
    ...(isDeepStrictEqual(names, unmoved) ? [] : [{ path, order: { [key]: names } }]),
  ];
}

/** By what the entries of both lists are told apart; undefined where nothing does. */
function nameKey(...lists: readonly (readonly unknown[])[]): 'mountPath' | 'name' | undefined {
  return (['mountPath', 'name'] as const).find((key) =>
    lists.every((list) => {
      const names = list.map((entry) => textAt(entry, key));
      return names.every((name) => name !== undefined) && new Set(names).size === names.length;
    }),
  );
}

const isLong = (text: string): boolean => text.includes('\n') || text.length > 100;
/** The parts in which a text is edited: as those of `like`. */
const separator = (like: string): string => (like.includes('\n') ? '\n' : ' ');
const parts = (text: string, like = text): readonly string[] => text.split(separator(like));

function changesOf(from: readonly unknown[], to: readonly unknown[]): readonly Change<unknown>[] {
  const [before = '', after = ''] = [from, to].map((parts) => parts.map((one) => `${JSON.stringify(one)}\n`).join(''));
  return structuredPatch('', '', before, after, '', '', { context: 0 }).hunks.map(({ oldStart, oldLines, newStart, newLines }) => ({
    ...{ at: oldStart - 1, gone: oldLines },
    come: to.slice(newStart - 1, newStart - 1 + newLines),
  }));
}

/** The value with these edits made. Throws where one of them finds no place. */
export function withEdits(value: unknown, edits: readonly FieldEdit[]): unknown {
  const whole = new Document({ value });
  for (const { path, ...edit } of edits) make(whole, { ...edit, path: ['value', ...path] });
  return (whole.toJS() as JsonMap).value;
}

/** Makes these edits in a document: comments of what stays do stay. Throws where one of them finds no place. */
export function editDocument(document: Document, edits: readonly FieldEdit[]): void {
  for (const edit of edits) make(document, edit);
}

function make(document: Document, { path, value, removed, changes, order }: FieldEdit): void {
  const place = placeOf(document.toJS(), path);
  const list = (): unknown[] => (document.getIn(place, true) as YAMLSeq).items;
  if (removed && !document.hasIn(place)) throw new Error(`no ${JSON.stringify(path)} to remove`);
  if (removed) document.deleteIn(place);
  else if (order) ordered(list(), order);
  else if (changes) {
    const text = document.getIn(place);
    if (typeof text === 'string') document.setIn(place, changed([...parts(text)], changes).join(separator(text)));
    else changed(list(), changes, (one) => document.createNode(one));
  } else document.setIn(place, document.createNode(value));
}

/** The keys and places in lists that lead there; what is not there yet is the end of its list. */
function placeOf(whole: unknown, path: readonly Step[]): readonly (string | number)[] {
  let here = whole;
  return path.map((step, index) => {
    if (typeof here !== 'object' || here === null) throw new Error(`no ${JSON.stringify(path.slice(0, index))} to edit`);
    const key = typeof step === 'string' ? step : placeIn(here as readonly unknown[], step);
    here = (here as Readonly<Record<string, unknown>>)[key];
    return key;
  });
}

function placeIn(list: readonly unknown[], step: object): number {
  const [[key, name] = ['', '']] = Object.entries(step);
  const place = list.findIndex((entry) => textAt(entry, key) === name);
  return place < 0 ? list.length : place;
}

function ordered(items: unknown[], order: Readonly<Record<string, readonly string[]>>): void {
  const [[key, names] = ['', []]] = Object.entries(order);
  const placeOfNode = (node: unknown) => names.indexOf(String((node as { toJSON(): JsonMap }).toJSON()[key]));
  items.sort((one, other) => placeOfNode(one) - placeOfNode(other));
}

/** From the end: each place is one in what was there before. */
function changed(all: unknown[], changes: readonly Change<unknown>[], come = (part: unknown) => part): readonly unknown[] {
  for (const { at, gone, come: parts } of changes.toReversed()) all.splice(at, gone, ...parts.map(come));
  return all;
}
