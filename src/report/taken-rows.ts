import { counted } from '../kernel/counted.ts';
import { refText } from '../kernel/object.ts';
import type { PlannedObject, Taker } from '../kernel/plan.ts';

type Row = readonly [label: string, text: string];

const LABEL = 'OWNERSHIP TAKEN';
/** Objects named in one line. */
const NAMED = 3;

/** One line for each that is overruled, with what it will do about it; with `wide` every field as well. */
export function takenRows(objects: readonly PlannedObject[], wide: boolean): readonly Row[] {
  const found = objects.flatMap((object) => (object.takers ?? []).map((taker) => ({ object, taker })));
  const groups = Map.groupBy(found, ({ taker }) => [taker.name, taker.manager, taker.hint].join('|'));
  const unnamed = objects.filter(({ takers }) => takers === undefined);
  return [...[...groups.values()].flatMap((group) => takerRow(group)), ...fieldRows(wide ? objects : unnamed)];
}

function takerRow(group: readonly { readonly object: PlannedObject; readonly taker: Taker }[]): readonly Row[] {
  const [first] = group;
  if (!first) return [];
  const { name, manager, hint } = first.taker;
  const fields = group.reduce((sum, { taker }) => sum + taker.fields, 0);
  const where = objectsText(group.map(({ object }) => refText(object.ref)));
  const who = manager === undefined || manager === name ? name : `${name} (field manager "${manager}")`;
  const what =
    fields === 0 ? `owns ${where}, which ${group.length === 1 ? 'changes' : 'change'}` : `loses ${counted(fields, 'field')} of ${where}`;
  return [[LABEL, `${who} ${what}. ${hint}`.trim()]];
}

function objectsText(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function fieldRows(objects: readonly PlannedObject[]): readonly Row[] {
  return objects.flatMap(({ ref, taken }) =>
    taken.map(({ path, manager }): Row => [LABEL, `${path} of ${refText(ref)} from "${manager}"`]),
  );
}
