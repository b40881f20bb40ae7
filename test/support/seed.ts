import { parseArgs } from 'node:util';

/** Numbers from 0 to below 1 that follow from the seed alone (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed that SEED names; else the given one. Throws on a SEED that is no whole number. */
export function seedOf(env: Readonly<Record<string, string | undefined>>, otherwise: number): number {
  const { SEED: text } = env;
  if (text === undefined || text === '') return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`SEED is a whole number of at most nine digits, not "${text}"`);
  return Number(text);
}

/** What a person said to a runner of tests: `npm run chaos -- --seed 7`. */
interface RunnerArguments {
  readonly full: boolean;
  /** For the processes that it starts: nothing, or the seed under the name that the tests read. */
  readonly env: { readonly SEED?: string };
}

/** Throws on whatever it does not know: a seed that is passed over in silence would run other points than those of the failure. */
export function runnerArguments(args: readonly string[]): RunnerArguments {
  const options = { full: { type: 'boolean', default: false }, seed: { type: 'string' } } as const;
  const { full, seed } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  if (seed === undefined) return { full, env: {} };
  if (seed === '') throw new Error('--seed needs a number');
  return { full, env: { SEED: String(seedOf({ SEED: seed }, 0)) } };
}
