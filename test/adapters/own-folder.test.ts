import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journalFolder } from '../../src/adapters/journal/folder.ts';
import { JOURNAL_NAME } from '../../src/adapters/journal/place.ts';
import { assertOwnFolder, isOpen, whoAmI } from '../../src/adapters/own-folder.ts';
import { openWorkFolder } from '../../src/adapters/work-folder.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { describeWhere, itWhere, NOT_POSIX } from '../support/needs.ts';

const STRANGER = 54_321;

/** Only root may give a folder away, or act for who called sudo. */
const NOT_ROOT = process.getuid?.() === 0 ? undefined : 'it needs root';

describeWhere(NOT_POSIX, 'a folder that another user could put something into', () => {
  let parent = '';
  let folder = '';
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'own-'));
    folder = join(parent, 'state', 'uid');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, 'upgrade.yaml'), 'kind: Theirs');
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const refuses = async (why: RegExp) => {
    const isRefusal = (thrown: unknown) => {
      assert.ok(thrown instanceof Fault, String(thrown));
      assert.equal(thrown.code, 'failed');
      assert.match(thrown.message, why);
      assert.match(thrown.suggestions.join('\n'), /look at it: ls -ld .*\n.*of your own/);
      return true;
    };
    await assert.rejects(openWorkFolder(folder), isRefusal);
    await assert.rejects(journalFolder(folder).read(JOURNAL_NAME), isRefusal);
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
    assert.deepEqual([of(1000, 0o775), of(0, 0o775), of(50, 0o775), of(50, 0o755), of(1000, 0o777)], [false, false, true, false, true]);
  });

  itWhere(NOT_ROOT, 'may be the folder of the person who called sudo', () => {
    assert.deepEqual(
      [whoAmI({ SUDO_UID: '1000' })?.caller, whoAmI({ SUDO_UID: 'x' })?.caller, whoAmI({})?.caller],
      [1000, undefined, undefined],
    );
  });
});
