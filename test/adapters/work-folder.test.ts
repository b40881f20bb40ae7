import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../src/adapters/clock.ts';
import { localFiles } from '../../src/adapters/machine.ts';
import { removeStaleKubeconfigs } from '../../src/adapters/tools/private-kubeconfig.ts';
import { assertOwnFolder, defaultWorkFolder, isOpen, openFolder, openWorkFolder, whoAmI } from '../../src/adapters/work-folder.ts';
import { readWorkFolder } from '../../src/features/survey/resources.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { emptyFolder } from '../support/folders.ts';
import { describeWhere, itWhere, NOT_POSIX } from '../support/needs.ts';

const fault = (code: string, text: RegExp) => (thrown: unknown) =>
  thrown instanceof Fault && thrown.code === code && text.test(thrown.message);

describe('the work folder', () => {
  const folder = emptyFolder('work-');

  it('gives a program that names its own files an empty folder, and removes it', async () => {
    const work = await openWorkFolder(join(folder, 'fresh'));
    await work.write('kubeconfig', 'ours');
    const used = await work.fresh(async (inner) => {
      assert.deepEqual([dirname(inner), await readdir(inner)], [work.path, []]);
      await writeFile(join(inner, 'kubeconfig'), 'theirs');
      return inner;
    });
    assert.deepEqual([existsSync(used), await work.read('kubeconfig')], [false, 'ours']);
  });

  it('is rid of what a killed process was fetching, and keeps what a living one fetches', async () => {
    const work = await openWorkFolder(join(folder, 'killed'));
    await mkdir(join(work.path, 'fresh-999999-abcdef'));
    await writeFile(join(work.path, 'fresh-999999-abcdef', 'chart.tgz'), 'x');
    await work.fresh(async (living) => {
      await removeStaleKubeconfigs(work.path, (pid) => pid === process.pid);
      assert.deepEqual(await readdir(work.path), [basename(living)]);
    });
  });

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

const STRANGER = 54_321;

/** Only root may give a folder away, or act for who called sudo. */
const NOT_ROOT = process.getuid?.() === 0 ? undefined : 'it needs root';

describeWhere(NOT_POSIX, 'a folder that another user could put something into', () => {
  const parent = emptyFolder('own-');
  let folder = '';
  beforeEach(async () => {
    folder = join(parent, 'state', 'uid');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, 'upgrade.yaml'), 'kind: Theirs');
  });

  const refuses = async (why: RegExp) => {
    const isRefusal = (thrown: unknown) => {
      assert.ok(thrown instanceof Fault, String(thrown));
      assert.equal(thrown.code, 'failed');
      assert.match(thrown.message, why);
      assert.match(thrown.suggestions.join('\n'), /look at it: ls -ld .*\n.*of your own/);
      return true;
    };
    await assert.rejects(openWorkFolder(folder), isRefusal);
  };
  const givenAway = (path: string) => chown(path, STRANGER, STRANGER);

  it('is used where it is ours alone', async () => {
    assert.equal((await openWorkFolder(folder)).path, folder);
  });

  it('is refused where it is a link, and what the link leads to stays as it is', async () => {
    const theirs = join(parent, 'theirs');
    await mkdir(theirs, { mode: 0o755 });
    await rm(folder, { recursive: true });
    await symlink(theirs, folder);
    await refuses(/it is a symbolic link$/);
    assert.equal((await stat(theirs)).mode & 0o777, 0o755);
  });

  itWhere(NOT_ROOT, 'is refused where it is another user’s', async () => {
    await givenAway(folder);
    await refuses(new RegExp(`it belongs to another user \\(uid ${STRANGER}\\)$`));
  });

  itWhere(NOT_ROOT, 'is refused where a folder above it is another user’s', async () => {
    await givenAway(join(parent, 'state'));
    await refuses(new RegExp(`state belongs to another user \\(uid ${STRANGER}\\)$`));
  });

  it('is refused where everybody may rename in a folder above it, unless that is sticky', async () => {
    await chmod(join(parent, 'state'), 0o777);
    await refuses(/other users may rename what is in .*state \(mode 777\)$/);
    await chmod(join(parent, 'state'), 0o1777);
    await assertOwnFolder(folder, 'work folder');
  });

  it('is used where a folder above it is a link to one of ours', async () => {
    await symlink(join(parent, 'state'), join(parent, 'link'));
    assert.ok(await openWorkFolder(join(parent, 'link', 'uid')));
  });

  it('may be below a folder of one’s own group, and of root’s', () => {
    const who = { uid: 1000, gid: 1000 };
    const of = (gid: number, mode: number) => isOpen({ uid: 1000, gid, mode }, who);
    assert.equal(isOpen({ uid: 1000, gid: 100, mode: 0o775 }, { uid: 1000, gid: 100 }), true, 'a primary group that others have too');
    assert.deepEqual([of(1000, 0o775), of(0, 0o775), of(50, 0o775), of(50, 0o755), of(1000, 0o777)], [false, false, true, false, true]);
  });

  itWhere(NOT_ROOT, 'may be the folder of the person who called sudo', () => {
    assert.deepEqual(
      [whoAmI({ SUDO_UID: '1000' })?.caller, whoAmI({ SUDO_UID: 'x' })?.caller, whoAmI({})?.caller],
      [1000, undefined, undefined],
    );
  });
});

describe('the work folder of a command', () => {
  const folder = emptyFolder('place-');
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  beforeEach(async () => {
    warnings.length = 0;
  });

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
