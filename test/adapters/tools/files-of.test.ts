import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTools } from '../../../src/adapters/tools/tools.ts';

describe('which', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'which of-'));
    await mkdir(join(folder, 'first', 'cli'), { recursive: true });
    for (const name of ['second', 'third']) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'cli'), '#!/bin/sh\n');
      await chmod(join(folder, name, 'cli'), 0o755);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('names every file of a program in the order of PATH, and no folder of that name', async () => {
    const path = ['first', 'third', 'second'].map((name) => join(folder, name)).join(':');
    const programs = { kubectl: 'kubectl', helm: 'helm', netsvcctl: 'cli' };
    const tools = openTools({ kubeconfigPath: '/k', env: { PATH: path }, programs, cliEnvironment: [] });
    assert.deepEqual(await tools.which('cli'), [join(folder, 'third', 'cli'), join(folder, 'second', 'cli')]);
  });
});
