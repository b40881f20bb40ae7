import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf, seenChecks, withFacts } from '../../build/check-pages.ts';
import { allChecks, checkTitles } from '../../src/features/chain.ts';

const pageOf = (id: string) => readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'checks', `${id}.md`), 'utf8');

describe('pages of checks', () => {
  const seen = seenChecks();
  const ids = Object.keys(checkTitles);

  it('begin with severity, install paths, stages and an example of the finding, from the noted ones', () => {
    for (const id of ids) assert.equal(pageOf(id), withFacts(id, pageOf(id), seen[id]), 'run: node build/check-pages.ts');
  });

  it('say then when it is found', () => {
    for (const id of ids) assert.match(pageOf(id), /<!-- end of the facts -->\n\n\*\*Found when\*\* \S/, id);
  });

  it('say Never or No of each that no screen offers to waive, and of no other', () => {
    const says = (id: string) => /^\*\*Accept\*\* (?:Never(?: useful| needed| for good)?[.:]|No:)/m.test(pageOf(id));
    assert.deepEqual(
      allChecks.filter(({ id, isNeverWaived = false }) => says(id) !== isNeverWaived).map(({ id }) => id),
      [],
    );
  });

  it('have an example each', () => {
    assert.deepEqual(
      ids.filter((id) => seen[id]?.example === undefined),
      [],
      'run: mocha --require test/support/record-examples.ts test/features/**/*.test.ts',
    );
  });

  it('show names of Calico, and nothing that is not known', () => {
    assert.deepEqual(
      ids.filter((id) => /netsvc(?!-upgrade)|\bundefined\b/.test(JSON.stringify(seen[id]?.example))),
      [],
    );
  });

  it('name every install path on which a test saw the check say something', () => {
    const wrong = ids.filter((id) => seen[id]?.paths.some((path) => pathsOf(id)?.every((one) => one !== path)));
    assert.deepEqual(wrong, []);
  });
});
