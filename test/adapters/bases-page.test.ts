import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openStoredBases } from '../../src/adapters/stored-bases.ts';
import { calico } from '../../src/profiles/calico.ts';

/** Releases as people list them: `all of v3.24.0 to v3.32.1`, or each. */
function listed(releases: readonly string[], published: readonly string[]): string {
  const [first = 'none', ...rest] = releases;
  const whole = published.slice(published.indexOf(first));
  return rest.length > 0 && whole.join() === releases.join() ? `all of ${first} to ${rest.at(-1)}` : releases.join(', ');
}

/** Those of the last stretch without a gap as a range, earlier ones one by one. */
function inShort(releases: readonly string[], published: readonly string[]): string {
  const from = releases.findIndex((_, index) => listed(releases.slice(index), published).startsWith('all of'));
  return [...releases.slice(0, from), listed(releases.slice(from), published)].join(', ');
}

describe('the page on carried edits', () => {
  const page = readFileSync(new URL('../../docs/reference/merge.md', import.meta.url), 'utf8');

  for (const file of [...calico.variants, ...calico.addOns, calico.operator].map((one) => one.file)) {
    it(`says which bases of ${file} come with the program`, async () => {
      const stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
      const row = page.split('\n').find((line) => line.startsWith('| `') && line.includes(`\`${file}\``));
      assert.equal(row?.split(' | ')[1], `${inShort(stored.releasesOf(file), stored.releasesOf('calico.yaml'))} |`);
    });
  }
});
