import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openStoredBases } from '../../src/adapters/stored-bases.ts';
import { parseRelease } from '../../src/core/release.ts';
import { calico } from '../../src/profiles/calico.ts';

/** The minor releases that are upgraded from, and the target's. */
const MINORS = Array.from({ length: 18 }, (_, index) => 15 + index);

/** Minor releases as people list them: `16–18, 22`. */
function ranges(minors: readonly number[]): string {
  const runs: number[][] = [];
  for (const minor of minors) {
    const last = runs.at(-1);
    if (last?.at(-1) === minor - 1) last.push(minor);
    else runs.push([minor]);
  }
  return runs.map((run) => (run.length === 1 ? `v3.${run[0]}` : `v3.${run[0]}–v3.${run.at(-1)}`)).join(', ') || 'none';
}

describe('the page on carried edits', () => {
  const page = readFileSync(new URL('../../docs/merge.md', import.meta.url), 'utf8');

  for (const file of [...calico.variants, ...calico.addOns, calico.operator].map((one) => one.file)) {
    it(`says which bases of ${file} come with the program, and which do not`, async () => {
      const releases = (await openStoredBases('calico'))?.releasesOf(file) ?? assert.fail('nothing stored');
      const stored = new Set(releases.map((release) => parseRelease(release)?.minor));
      const row = `| \`${file}\` | ${releases.join(', ') || 'none'} | ${ranges(MINORS.filter((minor) => !stored.has(minor)))} |`;
      assert.ok(page.includes(`${row}\n`), `docs/merge.md lacks the row\n${row}`);
    });
  }
});
