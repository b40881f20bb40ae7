import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/adapters/clock.ts';
import { localFiles } from '../../src/adapters/user-files.ts';
import { defaultWorkFolder, openWorkFolder } from '../../src/adapters/work-folder.ts';
import { Fault } from '../../src/kernel/fault.ts';

const fault = (code: string, text: RegExp) => (thrown: unknown) =>
  thrown instanceof Fault && thrown.code === code && text.test(thrown.message);

describe('the work folder', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'work-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is private, and so is what is written there', async () => {
    const work = await openWorkFolder(join(folder, 'a', 'b'));
    const file = await work.write('upgrade.yaml', 'kind: A');
    assert.equal((await stat(work.path)).mode & 0o777, 0o700);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await work.read('upgrade.yaml'), 'kind: A');
    assert.equal(await work.read('nothing'), undefined);
    assert.deepEqual(await readdir(work.path), ['upgrade.yaml']);
    assert.ok((await work.freeBytes()) > 0);
  });

  it('keeps files inside', async () => {
    const work = await openWorkFolder(folder);
    for (const name of ['../x', 'a/b', '..', '/etc/x']) await assert.rejects(work.write(name, ''), fault('failed', /plain file name/));
  });

  it('says what to do when it cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    await assert.rejects(openWorkFolder(join(folder, 'file', 'below')), fault('failed', /cannot be written/));
  });

  it('has one place per cluster', () => {
    assert.equal(defaultWorkFolder({ XDG_STATE_HOME: '/s' }, 'u-1'), '/s/netsvc-upgrade/u-1');
    assert.equal(defaultWorkFolder({ HOME: '/h' }, '../x'), '/h/.local/state/netsvc-upgrade/----x'.replace('----x', '---x'));
  });
});

describe("a person's files", () => {
  const files = localFiles();

  it('names the file that is missing or a folder', async () => {
    await assert.rejects(files.readText('/no/such/file'), fault('usage', /\/no\/such\/file: there is no such file/));
    await assert.rejects(files.readBytes(tmpdir()), fault('usage', /it is a folder/));
  });

  it('tells files from folders', async () => {
    assert.equal(await files.isFolder(tmpdir()), true);
    assert.equal(await files.exists(import.meta.filename), true);
    assert.equal(await files.isFolder(import.meta.filename), false);
    assert.equal(await files.realPath(`${import.meta.dirname}/../adapters/.`), await files.realPath(import.meta.dirname));
    assert.equal(await files.realPath('/no/such/file'), '/no/such/file');
    assert.equal(await files.readText(import.meta.filename), await readFile(import.meta.filename, 'utf8'));
  });
});

describe('the clock', () => {
  it('ends a sleep when it is told to', async () => {
    const abort = new AbortController();
    const sleeping = systemClock().sleep(60_000, abort.signal);
    abort.abort();
    await assert.rejects(sleeping);
  });
});
