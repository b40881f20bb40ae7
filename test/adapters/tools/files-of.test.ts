import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTools } from '../../../src/adapters/tools/tools.ts';
import { testFolder } from '../../support/folders.ts';

describe('which', () => {
  const folder = testFolder('which of-');
  before(async () => {
    await mkdir(join(folder, 'first', 'cli'), { recursive: true });
    for (const name of ['second', 'third']) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'cli'), '#!/bin/sh\n');
      await chmod(join(folder, name, 'cli'), 0o755);
    }
  });

  it('names every file of a program in the order of PATH, and no folder of that name', async () => {
    const path = ['first', 'third', 'second'].map((name) => join(folder, name)).join(':');
    const programs = { kubectl: 'kubectl', helm: 'helm', netsvcctl: 'cli' };
    const tools = openTools({ kubeconfigPath: '/k', env: { PATH: path }, programs, cliEnvironment: [] });
    assert.deepEqual(await tools.which('cli'), [join(folder, 'third', 'cli'), join(folder, 'second', 'cli')]);
  });
});
