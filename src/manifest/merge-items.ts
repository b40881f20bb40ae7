import { jsonAt } from '../kernel/json.ts';
import { alike } from './alike.ts';
import { decide, fieldOf, inField, inItem, type MergeField, type Place, tell, type Walk } from './walk.ts';

type Items = ReadonlyMap<string, unknown>;

export interface ThreeLists {
  readonly base: Items;
  readonly mine: Items;
  readonly theirs: Items;
}

/** Lists in which order has a meaning although items have names. */
const ORDERED = new Set(['initContainers', 'plugins']);

const MOVED = 'You moved it to another path, and the release changed it.';

/** Merges item by item; the target's order, what the user added where it stood among its neighbours. */
export function mergeItems(walk: Walk, place: Place, lists: ThreeLists, mergeField: MergeField): readonly unknown[] {
  const { base, mine, theirs } = lists;
  const merged = new Map<string, unknown>();
  const moves = place.name === 'volumeMounts' && walk.mode === 'merge' ? moved(walk, place, lists, merged) : new Set<string>();
  for (const key of new Set([...theirs.keys(), ...mine.keys(), ...base.keys()])) {
    if (moves.has(key)) continue;
    const three = { base: base.get(key), mine: mine.get(key), theirs: theirs.get(key) };
    merged.set(key, mergeField(walk, inItem(place, key), three));
  }
  noteOrder(walk, place, lists);
  const order = inOrder(lists, merged);
  return (place.name === 'env' ? ofVariables(walk, place, order, merged, [mine, theirs]) : order).map((key) => merged.get(key));
}

/** The order of variables has a meaning where one reads another. */
function ofVariables(walk: Walk, place: Place, order: readonly string[], merged: Items, sides: readonly Items[]): readonly string[] {
  const found = readableOrder(order, merged, sides);
  const field = fieldOf(walk.ref, place.path);
  for (const { reader, read } of found.moved)
    walk.note(`${field}: ${read} is put before ${reader}, which reads it and else would get the text $(${read}).`);
  for (const { reader, read } of found.open) {
    const because = `It reads $(${read}), which the target has after it, because ${read} reads it in turn.`;
    walk.note(`${field}[${reader}]: ${because}`);
    walk.ask?.(fieldOf(walk.ref, inField(inItem(place, reader), 'value').path), because);
  }
  return found.order;
}

function inOrder({ mine, theirs }: ThreeLists, merged: Items): readonly string[] {
  const order = [...theirs.keys()].filter((key) => merged.get(key) !== undefined);
  const own = [...mine.keys()];
  for (const [index, key] of own.entries()) {
    if (merged.get(key) === undefined || theirs.has(key)) continue;
    order.splice(placeOf(index, own, order), 0, key);
  }
  return order;
}

/** First if it was first, else after its former predecessor, else before its former successor, else at the end. */
function placeOf(index: number, own: readonly string[], order: readonly string[]): number {
  if (index === 0) return 0;
  const before = order.indexOf(own[index - 1] ?? '');
  if (before >= 0) return before + 1;
  const next = own.slice(index + 1).find((key) => order.includes(key));
  return next === undefined ? order.length : order.indexOf(next);
}

/** A mount that went to another path is one edit: half of it would mount the volume twice. */
function moved(walk: Walk, place: Place, { base, mine, theirs }: ThreeLists, merged: Map<string, unknown>): ReadonlySet<string> {
  const done = new Set<string>();
  for (const [from, was] of base) {
    if (mine.has(from) || !theirs.has(from)) continue;
    const to = [...mine].find(
      ([key, item]) => !base.has(key) && !theirs.has(key) && !done.has(key) && jsonAt(item, 'name') === jsonAt(was, 'name'),
    );
    if (!to) continue;
    const three = { base: was, mine: to[1], theirs: theirs.get(from) };
    const at = inItem(place, from);
    const disputed = walk.disputed?.(at.path) ?? walk.disputed?.(inItem(place, to[0]).path);
    const reason = alike(was, three.theirs) ? (walk.forced(fieldOf(walk.ref, at.path)) ?? disputed?.because) : MOVED;
    const item = reason === undefined ? tell(walk, at, three, 'kept') : decide(walk, at, three, reason);
    merged.set(item === three.mine ? to[0] : from, item);
    done.add(from).add(to[0]);
  }
  return done;
}

function noteOrder(walk: Walk, { name, path }: Place, { base, mine }: ThreeLists): void {
  if (!ORDERED.has(name)) return;
  const common = (items: Items, other: Items) => [...items.keys()].filter((key) => other.has(key)).join();
  if (common(base, mine) !== common(mine, base)) {
    walk.note(
      `${fieldOf(walk.ref, path)}: your order differs from the release's; the target's order is used. Check whether yours had a reason.`,
    );
  }
}

/** A variable, and one that it reads as `$(NAME)`. */
interface VariableReference {
  readonly reader: string;
  readonly read: string;
}

/**
 * An order of variables, near the target's, in which every reference still resolves. Kubernetes expands only earlier variables: the program
 * gets any other as the literal `$(NAME)`. For those in `moved` the order is another than the target's; those in `open` cannot be had beside
 * what the target reads, and its order stands.
 */
function readableOrder(order: readonly string[], merged: Items, sides: readonly Items[]) {
  const wanted = order.flatMap((reader) =>
    readBy(merged.get(reader))
      .filter((read) => merged.get(read) !== undefined && sides.some((side) => isReadable(side, { reader, read }, merged)))
      .map((read) => ({ reader, read })),
  );
  const moved = wanted.filter(({ reader, read }) => order.indexOf(read) > order.indexOf(reader));
  if (moved.length === 0) return { order, moved, open: moved };
  const placed = new Set<string>();
  const place = (name: string, readers: readonly string[]): void => {
    if (placed.has(name)) return;
    const before = wanted.filter(({ reader, read }) => reader === name && !readers.includes(read));
    for (const { read } of before) place(read, [...readers, name]);
    placed.add(name);
  };
  for (const name of order) place(name, [name]);
  const found = [...placed];
  const isReadableNow = ({ reader, read }: VariableReference) => found.indexOf(read) < found.indexOf(reader);
  if (wanted.every(isReadableNow)) return { order: found, moved, open: [] };
  const inCircle = moved.filter(({ reader, read }) => reaches(read, reader, wanted, []));
  return { order, moved: [], open: inCircle };
}

function reaches(from: string, to: string, all: readonly VariableReference[], seen: readonly string[]): boolean {
  if (seen.includes(from)) return false;
  return all.some(({ reader, read }) => reader === from && (read === to || reaches(read, to, all, [...seen, from])));
}

/** On this side the variable had the value of the result, and came after what it reads. */
function isReadable(side: Items, { reader, read }: VariableReference, merged: Items): boolean {
  const names = [...side.keys()];
  if (!names.includes(read) || names.indexOf(read) >= names.indexOf(reader)) return false;
  return jsonAt(side.get(reader), 'value') === jsonAt(merged.get(reader), 'value');
}

/** `$$(NAME)` is text. */
function readBy(item: unknown): readonly string[] {
  const references = String(jsonAt(item, 'value') ?? '').matchAll(/\$\$|\$\(([^()]+)\)/g);
  return [...references].flatMap(([, name]) => (name === undefined ? [] : [name]));
}
