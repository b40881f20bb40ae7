import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coverageText } from '../test/support/coverage.ts';

/** Writes docs/internals/coverage.md; `--check` only compares. */
const file = join(import.meta.dirname, '..', 'docs', 'internals', 'coverage.md');
const text = coverageText();
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write('docs/internals/coverage.md is stale: run node build/coverage.ts\n');
  process.exitCode = 1;
}
