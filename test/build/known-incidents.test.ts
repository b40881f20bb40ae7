import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { explainedIncidents } from '../../build/explained-incidents.ts';
import { HEADS, KNOWN_INCIDENTS, knownIncidents } from '../../build/known-incidents.ts';
import { profileRows } from '../../build/profile-rows.ts';

describe('the page of known incidents', () => {
  it('is as the profiles and the pages of the checks have it', () => {
    assert.equal(readFileSync(KNOWN_INCIDENTS, 'utf8'), knownIncidents(), 'run: node build/known-incidents.ts');
  });

  it('has a row for every defect and change of a release; the page of its check has what to do and the threads', () => {
    const lines = knownIncidents()
      .split('\n')
      .map((line) => line.trimStart());
    assert.ok(profileRows.length > 40, String(profileRows.length));
    for (const { check, id, seen, help, sources } of profileRows) {
      const head = HEADS.find((one) => seen.startsWith(one)) ?? '';
      const begins = [seen, seen.slice(head.length).trimStart()].map((one) => `- ${one} `);
      const shown = lines.find((line) => begins.some((one) => line.startsWith(one)));
      assert.ok(shown?.includes(`\`${id}\``), id);
      const page = readFileSync(join(dirname(KNOWN_INCIDENTS), '..', 'reference', 'checks', `${check}.md`), 'utf8');
      const row = page.split('\n').find((line) => line.startsWith('- ') && line.includes(`\`${id}\``));
      assert.ok(row, id);
      assert.ok(row.includes(help), id);
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
