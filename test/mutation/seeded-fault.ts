/** A defect that somebody could well make: a text of a source file, which must be there exactly once, and what it becomes. */
export interface SeededFault {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Code whose faults its own fast tests must notice. */
export interface Room {
  readonly name: string;
  /** Patterns of test files. */
  readonly tests: readonly string[];
  /** By file: what is there, and what it becomes. */
  readonly faults: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>>;
}

export const faultsOf = ({ faults }: Room): readonly SeededFault[] =>
  Object.entries(faults).flatMap(([file, pairs]) => pairs.map(([from, to]) => ({ file, from, to })));

/** The source with the fault in it. Throws if the text is not there, or more than once: the list is out of date then. */
export function seeded(source: string, { file, from, to }: SeededFault): string {
  const pieces = source.split(from);
  if (pieces.length !== 2) throw new Error(`${file} has this text ${pieces.length - 1} times instead of once: ${from}`);
  return pieces.join(to);
}
