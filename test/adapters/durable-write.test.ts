import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../src/adapters/durable-write.ts';
import { defaultWorkFolder, openWorkFolder } from '../../src/adapters/work-folder.ts';
import { emptyFolder } from '../support/folders.ts';

describe('writing durably', () => {
  const folder = emptyFolder('durable write-');

  it('replaces a file with its rights and leaves nothing beside it', async () => {
    await writeFile(join(folder, 'a'), 'old', { mode: 0o644 });
    await writeDurably(join(folder, 'a'), Buffer.from('new'), 0o600);
    assert.equal(await readFile(join(folder, 'a'), 'utf8'), 'new');
    assert.equal((await stat(join(folder, 'a'))).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder), ['a']);
  });

  it('leaves no half of a file behind when it fails', async () => {
    await mkdir(join(folder, 'a'));
    await assert.rejects(writeDurably(join(folder, 'a'), Buffer.from('new'), 0o600));
    assert.deepEqual(await readdir(folder), ['a']);
  });

  it('takes the rights of others from a work folder that was there', async () => {
    await chmod(folder, 0o755);
    await openWorkFolder(folder);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
  });

  it('wants a name in the work folder', async () => {
    const work = await openWorkFolder(folder);
    await assert.rejects(work.write('', 'x'), /not a plain file name/);
  });

  it('ignores a state folder that is not absolute', () => {
    assert.equal(defaultWorkFolder({ XDG_STATE_HOME: 'state', HOME: '/h' }, 'u'), '/h/.local/state/netsvc-upgrade/u');
  });
});
