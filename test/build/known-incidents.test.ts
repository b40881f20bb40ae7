import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { explainedIncidents } from '../../build/explained-incidents.ts';
import { KNOWN_INCIDENTS, knownIncidents } from '../../build/known-incidents.ts';
import { calico } from '../../src/profiles/calico.ts';

describe('the page of known incidents', () => {
  it('is as the profiles and the pages of the checks have it', () => {
    assert.equal(readFileSync(KNOWN_INCIDENTS, 'utf8'), knownIncidents(), 'run: node build/known-incidents.ts');
  });

  it('has a row for every defect of a release, and links to its threads', () => {
    const text = knownIncidents();
    for (const { id, sources } of calico.defects ?? []) {
      const row = text.split('\n').find((line) => line.includes(`\`${id}\``));
      assert.ok(row, id);
      for (const source of sources) assert.ok(row.includes(`/issues/${source.split('#')[1]})`), source);
    }
  });

  it('explains what no check can see, with links to its threads and to pages that exist', () => {
    const text = knownIncidents();
    for (const { seen, here, sources } of explainedIncidents) {
      const row = text.split('\n').find((line) => line.startsWith(`- **${seen}** `));
      assert.ok(row, seen);
      for (const source of sources) assert.ok(row.includes(`/issues/${source.split('#')[1]})`), source);
      for (const [, page = ''] of here.matchAll(/\]\(([^)]+)\)/g)) {
        const [file = '', part] = page.split('#');
        const path = join(dirname(KNOWN_INCIDENTS), file);
        assert.ok(existsSync(path), page);
        if (part) assert.match(readFileSync(path, 'utf8').toLowerCase().replaceAll(' ', '-'), new RegExp(`^#+-${part}$`, 'm'));
      }
    }
  });
});
