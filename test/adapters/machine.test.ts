import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, chown, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localMachine } from '../../src/adapters/machine.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { emptyFolder } from '../support/folders.ts';
import { itWhere, NOT_POSIX } from '../support/needs.ts';

const machine = localMachine();
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

const starts = async () => undefined;

describe('localMachine', () => {
  const folder = emptyFolder('machine-');

  it('writes a new file that only its owner may read, and leaves one with other content as it is', async () => {
    const file = join(folder, 'cli.cfg');
    await machine.writeNew(file, 'a: 1');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    await machine.writeNew(file, 'a: 1');
    await assert.rejects(machine.writeNew(file, 'a: 2'), /cli\.cfg exists already, with other content: it was not changed/);
    assert.equal(await readFile(file, 'utf8'), 'a: 1');
    assert.deepEqual(await readdir(folder), ['cli.cfg']);
  });

  it('makes the folder of a new file, which only its owner may enter', async () => {
    await machine.writeNew(join(folder, 'backup', 'p.yaml'), 'a: 1');
    assert.equal((await stat(join(folder, 'backup'))).mode & 0o777, 0o700);
  });

  it('writes no new file over a link that leads nowhere: what it means is its owner’s', async () => {
    const file = join(folder, 'cli.cfg');
    await symlink(join(folder, 'later'), file);
    await assert.rejects(machine.writeNew(file, 'a: 1'), /exists already/);
    assert.deepEqual(await readdir(folder), ['cli.cfg']);
    assert.ok((await lstat(file)).isSymbolicLink());
  });

  it('installs an executable whose checksum is right, replacing an older file', async () => {
    await writeFile(join(folder, 'new'), 'new');
    await writeFile(join(folder, 'cli'), 'old');
    await machine.installExecutable(join(folder, 'new'), sha('new'), join(folder, 'cli'), starts);
    assert.equal(await readFile(join(folder, 'cli'), 'utf8'), 'new');
    assert.equal((await stat(join(folder, 'cli'))).mode & 0o777, 0o755);
    assert.deepEqual((await readdir(folder)).sort(), ['cli', 'new']);
  });

  it('keeps a copy of the file that it replaces, and never has none at its place', async () => {
    await writeFile(join(folder, 'new'), 'new');
    await writeFile(join(folder, 'cli'), 'old');
    await machine.installExecutable(join(folder, 'new'), sha('new'), join(folder, 'cli'), starts, join(folder, 'kept', 'cli-old'));
    assert.equal(await readFile(join(folder, 'cli'), 'utf8'), 'new');
    assert.equal(await readFile(join(folder, 'kept', 'cli-old'), 'utf8'), 'old');
  });

  it('installs nothing when the checksum differs', async () => {
    await writeFile(join(folder, 'new'), 'tampered');
    await assert.rejects(machine.installExecutable(join(folder, 'new'), sha('new'), join(folder, 'cli'), starts), /sha256/);
    assert.deepEqual(await readdir(folder), ['new']);
  });

  it('puts nothing in place of a program that works before the new one has been started beside it', async () => {
    await writeFile(join(folder, 'new'), 'new');
    await writeFile(join(folder, 'cli'), 'old');
    const kept = join(folder, 'kept', 'cli-old');
    const fails = async (file: string) => {
      assert.equal((await stat(file)).mode & 0o777, 0o755);
      throw new Fault('failed', `${await readFile(file, 'utf8')} does not start`, []);
    };
    await assert.rejects(
      machine.installExecutable(join(folder, 'new'), sha('new'), join(folder, 'cli'), fails, kept),
      /^Fault: new does not start/,
    );
    assert.equal(await readFile(join(folder, 'cli'), 'utf8'), 'old');
    assert.deepEqual((await readdir(folder)).sort(), ['cli', 'new']);
  });

  it('removes a file only after its copy is there', async () => {
    await writeFile(join(folder, 'old'), 'content');
    await machine.moveAside(join(folder, 'old'), join(folder, 'kept', 'old'));
    assert.equal(await readFile(join(folder, 'kept', 'old'), 'utf8'), 'content');
    await assert.rejects(stat(join(folder, 'old')), /ENOENT/);
  });

  itWhere(NOT_POSIX, 'takes a program away that nobody may write, and keeps it as one that can be run', async () => {
    const { seteuid } = process;
    const root = process.getuid?.() === 0;
    await writeFile(join(folder, 'old'), 'content');
    await chmod(join(folder, 'old'), 0o555);
    if (root) for (const path of [folder, join(folder, 'old')]) await chown(path, 65534, 65534);
    // Root may write everything.
    if (root) seteuid?.(65534);
    await machine.moveAside(join(folder, 'old'), join(folder, 'kept')).finally(() => root && seteuid?.(0));
    assert.equal((await stat(join(folder, 'kept'))).mode & 0o777, 0o755);
    await assert.rejects(stat(join(folder, 'old')), /ENOENT/);
  });

  it('never writes over an earlier backup of a file', async () => {
    await writeFile(join(folder, 'old'), 'second');
    await writeFile(join(folder, 'kept'), 'first');
    await assert.rejects(machine.moveAside(join(folder, 'old'), join(folder, 'kept')), /exists already/);
    assert.equal(await readFile(join(folder, 'old'), 'utf8'), 'second');
    assert.equal(await readFile(join(folder, 'kept'), 'utf8'), 'first');
  });

  it('makes a folder appear whole, readable only by its owner', async () => {
    await machine.writeFolder(join(folder, 'backup'), [
      { name: 'a.yaml', content: 'a' },
      { name: 'crs/b.yaml', content: 'b' },
    ]);
    assert.equal(await readFile(join(folder, 'backup', 'crs', 'b.yaml'), 'utf8'), 'b');
    assert.equal((await stat(join(folder, 'backup'))).mode & 0o777, 0o700);
    assert.equal((await stat(join(folder, 'backup', 'a.yaml'))).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder), ['backup']);
    assert.equal(await readFile(join(folder, 'backup', 'SHA256SUMS'), 'utf8'), `${sha('a')}  a.yaml\n${sha('b')}  crs/b.yaml\n`);
  });

  it('leaves nothing of a folder that could not be written whole', async () => {
    const files = ['a', 'a/b'].map((name) => ({ name, content: 'secret' }));
    await assert.rejects(machine.writeFolder(join(folder, 'backup'), files), /cannot write in/);
    assert.deepEqual(await readdir(folder), []);
  });

  it('refuses a folder that exists and names that leave it', async () => {
    await assert.rejects(machine.writeFolder(folder, []), /exists already/);
    await assert.rejects(machine.writeFolder(join(folder, 'b'), [{ name: '../../evil', content: '' }]), /leaves the backup folder/);
  });
});
