import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localFiles } from '../../src/adapters/machine.ts';
import { openFolder } from '../../src/cli/open-folder.ts';
import { readWorkFolder } from '../../src/features/survey/resources.ts';
import { Fault } from '../../src/kernel/fault.ts';

describe('the work folder of a command', () => {
  let folder = '';
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  beforeEach(async () => {
    warnings.length = 0;
    folder = await mkdtemp(join(tmpdir(), 'place-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is the lasting one where that can be written, whatever the command does', async () => {
    for (const looksOnly of [true, false]) {
      const work = await openFolder({ env: { XDG_STATE_HOME: folder }, looksOnly, warn }, 'u-1');
      assert.equal(work.path, join(folder, 'netsvc-upgrade', 'u-1'));
      assert.equal(work.standsInFor, undefined);
    }
    assert.deepEqual(warnings, []);
  });

  describe('that cannot be written', () => {
    let env: { readonly XDG_STATE_HOME: string };
    beforeEach(async () => {
      // A file in the way refuses the superuser as well, whom permissions do not stop.
      await writeFile(join(folder, 'file'), '');
      env = { XDG_STATE_HOME: join(folder, 'file') };
    });
    const wanted = () => join(env.XDG_STATE_HOME, 'netsvc-upgrade', 'u-1');

    it('gives way to a private temporary one for a command that only looks, which says so', async () => {
      const work = await openFolder({ env, looksOnly: true, warn }, 'u-1');
      try {
        assert.equal(work.standsInFor, wanted());
        assert.equal((await stat(work.path)).mode & 0o777, 0o700);
        assert.ok(existsSync(await work.write('upgrade.yaml', 'kind: A')));
        assert.equal(warnings.length, 1);
        assert.match(warnings[0] ?? '', /cannot be written: .*does without it.*XDG_STATE_HOME/);
      } finally {
        await rm(work.path, { recursive: true });
      }
    });

    it('is still found by the preflight (NS-801), by its own path', async () => {
      const work = await openFolder({ env, looksOnly: true, warn }, 'u-1');
      try {
        const { path, writable } = await readWorkFolder({ work, files: localFiles() });
        assert.deepEqual({ path, writable }, { path: wanted(), writable: false });
      } finally {
        await rm(work.path, { recursive: true });
      }
    });

    it('ends a command that changes something', async () => {
      await assert.rejects(
        openFolder({ env, looksOnly: false, warn }, 'u-1'),
        (thrown) => thrown instanceof Fault && thrown.code === 'failed' && /cannot be written/.test(thrown.message),
      );
    });
  });
});
