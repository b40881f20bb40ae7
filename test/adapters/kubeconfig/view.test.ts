import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { viewKubeconfig } from '../../../src/adapters/kubeconfig/view.ts';
import { testFolder } from '../../support/folders.ts';

/** A kubectl that says in `current-context` what it was told about a person's own defaults. */
const STAND_IN = '#!/bin/sh\nprintf \'{"kind":"Config","current-context":"%s"}\' "$KUBERC"\n';

describe('a kubeconfig of several files, merged by kubectl', () => {
  const folder = testFolder('view-');

  it('is read without a person’s own defaults: these may name another file for this very command', async () => {
    const [kubectl, ...files] = ['kubectl', 'a', 'b'].map((name) => join(folder, name));
    assert.ok(kubectl);
    await writeFile(kubectl, STAND_IN, { mode: 0o755 });
    for (const file of files) await writeFile(file, 'apiVersion: v1\nkind: Config\nextensions: []\n');
    const found = await viewKubeconfig(files, {}, { PATH: process.env.PATH, KUBERC: join(folder, 'kuberc') }, kubectl);
    assert.equal(found['current-context'], 'off');
  });
});
