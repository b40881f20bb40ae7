import { parseArgs } from 'node:util';
import { seedOf } from './seed.ts';

/** What a person said to a runner of tests: `npm run chaos -- --seed 7`. */
export interface RunnerArguments {
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
