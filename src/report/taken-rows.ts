import { counted } from '../kernel/counted.ts';
import type { Trace } from '../kernel/edit-trace.ts';
import { refText } from '../kernel/object.ts';
import type { PlannedObject, Taker } from '../kernel/plan.ts';

type Row = readonly [label: string, text: string];

const LABEL = 'OWNERSHIP TAKEN';
/** Objects or fields named in one line. */
const NAMED = 3;

/**
 * One line for each overruled manager, with what it will do; with `wide` every field as well. Values in the edits above are not repeated.
 */
export function takenRows(objects: readonly PlannedObject[], edits: readonly Trace[], wide: boolean): readonly Row[] {
  const told = new Set(edits.map(({ ref, path }) => `${refText(ref)} ${path}`));
  const found = objects.flatMap((object) => (object.takers ?? []).flatMap((taker) => takingsOf(object, taker, told)));
  const groups = Map.groupBy(
    found.filter(({ taker, paths }) => taker.fields === 0 || paths.length > 0),
    ({ taker, gone }) => [taker.name, taker.manager, taker.hint, gone].join('|'),
  );
  const unnamed = objects.filter(({ takers }) => takers === undefined);
  return [...[...groups.values()].flatMap((group) => takerRow(group)), ...fieldRows(wide ? objects : unnamed)];
}

interface Taking {
  readonly object: PlannedObject;
  readonly taker: Taker;
  /** Its fields that no edit tells. */
  readonly paths: readonly string[];
  /** True of those that the upgrade removes together with what they belong to. */
  readonly gone: boolean;
}

function takingsOf(object: PlannedObject, taker: Taker, told: ReadonlySet<string>): readonly Taking[] {
  const paths = object.taken
    .filter((one) => one.manager === taker.manager && one.subresource === taker.subresource)
    .map(({ path }) => path)
    .filter((path) => !told.has(`${refText(object.ref)} ${path}`));
  const { gone = [], set = [] } = Object.groupBy(paths, (path) => (isGone(object, path) ? 'gone' : 'set'));
  return [{ object, taker, paths: set, gone: false }, ...(gone.length > 0 ? [{ object, taker, paths: gone, gone: true }] : [])];
}

/** True if the upgrade removes the list item that a field belongs to, such as a container. */
export function isGone({ fields }: PlannedObject, path: string): boolean {
  const removed = fields.filter(({ after }) => after === undefined);
  const items = [...path.matchAll(/\[([^\]]+)\]/g)].map(({ 0: step, 1: key, index }) => ({
    key,
    inside: `${path.slice(0, index)}${step}.`,
  }));
  return items.some(({ key, inside }) =>
    removed.some((one) => one.path.startsWith(inside) && one.before === key && isLeafOf(one.path, inside)),
  );
}

const isLeafOf = (path: string, inside: string): boolean => !/[.[]/.test(path.slice(inside.length));

/** The hint; who set a field manually is not told to keep it if its place is gone. */
export function hintOf({ kind, hint }: Taker, gone: boolean): string {
  return gone && kind === 'person' ? '' : hint;
}

function takerRow(group: readonly Taking[]): readonly Row[] {
  const [first] = group;
  if (!first) return [];
  const { name, manager } = first.taker;
  const paths = group.flatMap((one) => one.paths);
  const where = named(group.map(({ object }) => refText(object.ref)));
  const who = manager === undefined || manager === name ? name : `${name} (field manager "${manager}")`;
  const what =
    paths.length === 0
      ? `owns ${where}, which ${group.length === 1 ? 'changes' : 'change'}`
      : `no longer manages ${counted(paths.length, 'field')} of ${where}, which the upgrade ${becomes(first, paths.length)}: ${named([...new Set(paths)])}`;
  return [[LABEL, `${who} ${what}. ${hintOf(first.taker, first.gone)}`.trim()]];
}

function becomes({ gone }: Taking, count: number): string {
  return gone ? `removes together with what ${count === 1 ? 'it belongs' : 'they belong'} to` : 'sets';
}

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function fieldRows(objects: readonly PlannedObject[]): readonly Row[] {
  return objects.flatMap(({ ref, taken }) =>
    taken.map(({ path, manager }): Row => [LABEL, `${path} of ${refText(ref)} from "${manager}"`]),
  );
}
