import { counted } from '../kernel/counted.ts';
import type { Trace } from '../kernel/edit-trace.ts';
import { refText } from '../kernel/object.ts';
import type { PlannedObject, Taker } from '../kernel/plan.ts';

type Row = readonly [label: string, text: string];

const LABEL = 'OWNERSHIP TAKEN';
/** Objects or fields named in one line. */
const NAMED = 3;

/**
 * One line for each that is overruled, with what it will do about it; with `wide` every field as well. What the edits above tell
 * is not told again: such a value stays, or its own row says what becomes of it.
 */
export function takenRows(objects: readonly PlannedObject[], edits: readonly Trace[], wide: boolean): readonly Row[] {
  const told = new Set(edits.map(({ ref, path }) => `${refText(ref)} ${path}`));
  const found = objects.flatMap((object) => (object.takers ?? []).map((taker) => takingOf(object, taker, told)));
  const groups = Map.groupBy(
    found.filter(({ taker, paths }) => taker.fields === 0 || paths.length > 0),
    ({ taker }) => [taker.name, taker.manager, taker.hint].join('|'),
  );
  const unnamed = objects.filter(({ takers }) => takers === undefined);
  return [...[...groups.values()].flatMap((group) => takerRow(group)), ...fieldRows(wide ? objects : unnamed)];
}

interface Taking {
  readonly object: PlannedObject;
  readonly taker: Taker;
  /** Its fields that no edit tells. */
  readonly paths: readonly string[];
}

function takingOf(object: PlannedObject, taker: Taker, told: ReadonlySet<string>): Taking {
  const paths = object.taken
    .filter((one) => one.manager === taker.manager && one.subresource === taker.subresource)
    .map(({ path }) => path)
    .filter((path) => !told.has(`${refText(object.ref)} ${path}`));
  return { object, taker, paths };
}

function takerRow(group: readonly Taking[]): readonly Row[] {
  const [first] = group;
  if (!first) return [];
  const { name, manager, hint } = first.taker;
  const paths = group.flatMap((one) => one.paths);
  const where = named(group.map(({ object }) => refText(object.ref)));
  const who = manager === undefined || manager === name ? name : `${name} (field manager "${manager}")`;
  const what =
    paths.length === 0
      ? `owns ${where}, which ${group.length === 1 ? 'changes' : 'change'}`
      : `no longer manages ${counted(paths.length, 'field')} of ${where}, which the upgrade sets: ${named([...new Set(paths)])}`;
  return [[LABEL, `${who} ${what}. ${hint}`.trim()]];
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
