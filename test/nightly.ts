import { join } from 'node:path';
import { execa } from 'execa';

/** `npm run test:nightly`: properties and fuzzing with 10,000 generated cases each, instead of the 500 of `npm test`. */
const { exitCode } = await execa(
  'mocha',
  ['--parallel', '--reporter', 'dot', '--timeout', '1800000', 'test/**/{fuzz-*,*-properties,no-false-alarms}.test.ts'],
  {
    cwd: join(import.meta.dirname, '..'),
    env: { NIGHTLY: 'true', NODE_ENV: 'test' },
    preferLocal: true,
    reject: false,
    stdio: 'inherit',
  },
);
process.exitCode = exitCode ?? 1;
