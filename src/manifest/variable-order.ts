import { isRecord } from '../kernel/json.ts';

type Items = ReadonlyMap<string, unknown>;

/** A variable, and one that it reads as `$(NAME)`. */
export interface VariableReference {
  readonly reader: string;
  readonly read: string;
}

export interface VariableOrder {
  readonly order: readonly string[];
  /** For these the order is another than the target's. */
  readonly moved: readonly VariableReference[];
  /** These cannot be had beside what the target reads: its order stands. */
  readonly open: readonly VariableReference[];
}

/**
 * An order of variables, near the target's, in which every reference still resolves. Kubernetes expands only earlier variables: the program
 * gets any other as the literal `$(NAME)`.
 */
export function readableOrder(order: readonly string[], merged: Items, sides: readonly Items[]): VariableOrder {
  const wanted = order.flatMap((reader) =>
    readBy(merged.get(reader))
      .filter((read) => merged.get(read) !== undefined && sides.some((side) => isReadable(side, { reader, read }, merged)))
      .map((read) => ({ reader, read })),
  );
  const moved = wanted.filter(({ reader, read }) => order.indexOf(read) > order.indexOf(reader));
  if (moved.length === 0) return { order, moved: [], open: [] };
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
  return { order, moved: [], open: moved.filter(({ reader, read }) => reaches(read, reader, wanted, [])) };
}

function reaches(from: string, to: string, all: readonly VariableReference[], seen: readonly string[]): boolean {
  if (seen.includes(from)) return false;
  return all.some(({ reader, read }) => reader === from && (read === to || reaches(read, to, all, [...seen, from])));
}

/** On this side the variable had the value of the result, and came after what it reads. */
function isReadable(side: Items, { reader, read }: VariableReference, merged: Items): boolean {
  const names = [...side.keys()];
  if (!names.includes(read) || names.indexOf(read) >= names.indexOf(reader)) return false;
  return textOf(side.get(reader)) === textOf(merged.get(reader));
}

/** `$$(NAME)` is text. */
function readBy(item: unknown): readonly string[] {
  const references = String(textOf(item) ?? '').matchAll(/\$\$|\$\(([^()]+)\)/g);
  return [...references].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

function textOf(item: unknown): unknown {
  return isRecord(item) ? item.value : undefined;
}
