import fc from 'fast-check';

export const SIDES = ['base', 'applied', 'live', 'file', 'theirs'] as const;

export type Value = string | undefined;

/** One thing in the five states that count where a person's file stands beside the cluster. */
export type Five<One> = Readonly<Record<(typeof SIDES)[number], One>>;

export const fiveOf = <One>(one: fc.Arbitrary<One>): fc.Arbitrary<Five<One>> =>
  fc.record({ base: one, applied: one, live: one, file: one, theirs: one });

/** What a person has, by the table of docs/reference/merge.md; `ask` where the file and the cluster disagree. */
export function mineOf({ base, applied, live, file, theirs }: Five<Value>): { readonly value: Value } | 'ask' {
  if (file === live) return { value: file };
  if (file === base || applied !== live) return { value: live };
  if (file === theirs) return { value: live === base ? file : live };
  return 'ask';
}
