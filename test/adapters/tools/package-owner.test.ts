import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownerByPlace, ownerIn, ownerOf, questions } from '../../../src/adapters/tools/package-owner.ts';
import { itWhere, NOT_POSIX } from '../../support/needs.ts';

describe('the package that owns a file', () => {
  const answers: readonly [string, string, string | undefined][] = [
    ['dpkg', 'diversion by dash from: /bin/sh\ndash: /bin/sh\n', 'apt-get remove dash'],
    ['dpkg', 'one, two: /usr/share/both\n', 'apt-get remove one'],
    ['dpkg', 'libc6:kfreebsd-amd64: /lib/libc.so\n', 'apt-get remove libc6'],
    ['dpkg', 'dpkg-query: no path found matching pattern /x\n', undefined],
    ['apk', '/usr/bin/vi symlink target is owned by busybox-1.36.1-r5\n', 'apk del busybox'],
    ['apk', '/f is owned by font-7x13-1.0-r0\n', 'apk del font-7x13'],
    ['pacman', 'error: No package owns /x\n', undefined],
  ];
  for (const [manager, answer, removeWith] of answers) {
    it(`is ${removeWith ? 'read from' : 'not in'} ${manager}'s answer "${answer.trim()}"`, () => {
      const question = questions.find((one) => one.manager === manager) ?? assert.fail();
      assert.equal(ownerIn(question, answer)?.removeWith, removeWith);
    });
  }

  for (const file of ['/snap/bin/kubectl', '/snap/bin/kubectl.tool', '/var/lib/snapd/snap/bin/kubectl', '/snap/kubectl/12/kubectl'])
    it(`is the snap for ${file}`, () => assert.equal(ownerByPlace(file)?.removeWith, 'snap remove kubectl'));
});

describe('ownerOf', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'owner of-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function manager(name: string, script: string) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }

  it('asks the managers on the given PATH, in English', async () => {
    await manager('pacman', '[ "$LC_ALL" = C ] && echo "$2 is owned by calico-cli 3.26.1-1"');
    assert.deepEqual(await ownerOf('/opt/a b', { PATH: folder, LC_ALL: 'de_DE' }), {
      manager: 'pacman',
      removeWith: 'pacman -R calico-cli',
    });
  });

  const nobodys: Readonly<Record<string, string>> = {
    dpkg: 'echo "dpkg-query: no path found matching pattern $2" >&2; exit 1',
    rpm: 'echo "file $4 is not owned by any package"; exit 1',
    apk: 'echo "ERROR: $3: Could not find owner package" >&2; exit 1',
    pacman: 'echo "error: No package owns $2" >&2; exit 1',
  };
  for (const [name, script] of Object.entries(nobodys)) {
    it(`is nobody where ${name} says so`, async () => {
      await manager(name, script);
      assert.equal(await ownerOf('/opt/x', { PATH: folder }), undefined);
    });
  }

  it('is nobody where rpm does not even find a file by its older name', async () => {
    await manager('rpm', 'echo "error: file $4: No such file or directory" >&2; exit 1');
    assert.equal(await ownerOf('/usr/bin/no-such-cli', { PATH: folder }), undefined);
  });

  const failures: readonly [string, string, RegExp][] = [
    ['dpkg', 'echo "calicoctl: $2"; exit 1', /^exit 1: calicoctl: \/opt\/x$/],
    ['dpkg', 'echo "dpkg-query: error: parsing file status" >&2; exit 2', /^exit 2: dpkg-query: error: parsing file status$/],
    ['dpkg', 'kill -9 $$', /^ended by SIGKILL$/],
    [
      'rpm',
      'echo "error: cannot open Packages database" >&2; echo "file $4 is not owned by any package"; exit 1',
      /^exit 1: error: cannot/,
    ],
    ['apk', 'echo "ERROR: Unable to read database" >&2; exit 99', /^exit 99: ERROR/],
    ['pacman', 'echo "error: failed to initialize alpm library" >&2; exit 255', /^exit 255: error/],
    ['pacman', 'echo "? $2"', /^exit 0: \? \/opt\/x$/],
  ];
  for (const [name, script, because] of failures) {
    it(`is not known where ${name} fails: ${script}`, async () => {
      await manager(name, script);
      const owner = await ownerOf('/opt/x', { PATH: folder });
      assert.ok(owner && 'unknown' in owner);
      assert.equal(owner.manager, name);
      assert.match(owner.unknown, because);
      assert.match(owner.askWith, new RegExp(`^${name} .*/opt/x$`));
    });
  }

  itWhere(NOT_POSIX, 'is asked out of reach of a Ctrl-C at the terminal', async () => {
    await manager('pacman', 'echo "$2 is owned by p$$-g$(/bin/ps -o pgid= -p $$ | /usr/bin/tr -d " ") 1-1"');
    const owner = await ownerOf('/opt/x', { PATH: folder });
    const [, pid, group] = /p(\d+)-g(\d+)/.exec(owner && 'removeWith' in owner ? owner.removeWith : '') ?? assert.fail();
    assert.equal(pid, group);
  });

  it('is nobody’s answer once a person has given the look up', async () => {
    const cut = new AbortController();
    await manager('pacman', 'exec /bin/sleep 30');
    setTimeout(() => cut.abort(), 300);
    await assert.rejects(ownerOf('/opt/x', { PATH: folder }, { cut: cut.signal }), { code: 'interrupted' });
  });

  it('is not known where a manager does not answer in time', async () => {
    await manager('dpkg', 'exec sleep 30');
    const owner = await ownerOf('/opt/x', { PATH: `${folder}:/bin:/usr/bin` }, { limitMs: 300 });
    assert.deepEqual(owner, { manager: 'dpkg', unknown: 'no answer within 0.3 s', askWith: 'dpkg -S /opt/x' });
  });

  it('is who says so, whoever else fails', async () => {
    await manager('dpkg', 'exit 2');
    await manager('pacman', 'echo "$2 is owned by calico-cli 3.26.1-1"');
    const owner = await ownerOf('/opt/x', { PATH: folder });
    assert.equal(owner && 'removeWith' in owner && owner.removeWith, 'pacman -R calico-cli');
  });

  it('asks by the short name that older packages know', async () => {
    await manager('dpkg', `[ "$2" = /bin/no-such-cli ] && echo "old-cli: $2" && exit\n${nobodys.dpkg}`);
    assert.deepEqual(await ownerOf('/usr/bin/no-such-cli', { PATH: folder }), {
      manager: 'dpkg',
      removeWith: 'apt-get remove old-cli',
    });
  });

  it('goes by the name of a link before what it leads to', async () => {
    await mkdir(join(folder, 'Cellar', 'mine'), { recursive: true });
    await symlink('/bin/sh', join(folder, 'Cellar', 'mine', 'cli'));
    await manager('dpkg', 'echo "dash: $2"');
    assert.deepEqual(await ownerOf(join(folder, 'Cellar', 'mine', 'cli'), { PATH: folder }), {
      manager: 'brew',
      removeWith: 'brew uninstall mine',
    });
  });

  it('is nobody on a machine without managers', async () => {
    assert.equal(await ownerOf('/opt/x', { PATH: folder }), undefined);
  });
});
