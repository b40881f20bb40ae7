import { join } from 'node:path';
import { execa } from 'execa';
import { runnerArguments } from './support/seed.ts';

/** `npm run chaos [-- --seed N]`: every fault at every request of the sweeps, whole ones and samples; hours. */
const { env } = runnerArguments(process.argv.slice(2));
const { exitCode } = await execa(
  'mocha',
  [
    ...['--parallel', '--jobs', '3', '--reporter', 'test/support/counting-reporter.cjs', '--timeout', '900000'],
    ...['test/chaos/*.test.ts', 'test/full/*-sweep.test.ts'],
  ],
  { cwd: join(import.meta.dirname, '..'), env, preferLocal: true, reject: false, stdio: 'inherit' },
);
process.exitCode = exitCode ?? 1;
