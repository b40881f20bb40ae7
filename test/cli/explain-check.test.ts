import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { explainCheck } from '../../src/cli/explain-check.ts';

describe('explain', () => {
  for (const written of ['NS-105', 'ns-105', ' NS105 ', '105', '-105'])
    it(`finds the page of "${written}"`, async () => assert.match(await explainCheck(written), /^# NS-105 /));

  it('says where the files are that a page leads to', async () => {
    const page = await explainCheck('NS-009');
    const folder = /^The links are to files of (\/.*\/docs\/reference\/checks\/)$/m.exec(page)?.[1];
    assert.ok(folder && existsSync(join(folder, '../permissions.md')), page);
    assert.doesNotMatch(await explainCheck('NS-105'), /The links are/);
  });

  it('lists every check without an id', async () => assert.match(await explainCheck(undefined), /^NS-001 {2}\S[\s\S]*\nNS-105 {2}\S/));

  for (const written of ['NS-9999', '9', 'accept'])
    it(`refuses "${written}" and leads to the list`, async () => {
      await assert.rejects(explainCheck(written), { code: 'usage' });
    });
});
