import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownerByPlace, ownerIn, ownerOf, questions } from '../../../src/adapters/tools/package-owner.ts';

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

  it('believes no answer of a manager that failed', async () => {
    await manager('dpkg', 'echo "calicoctl: $2"; exit 1');
    assert.equal(await ownerOf('/opt/x', { PATH: folder }), undefined);
  });

  it('asks by the short name that older packages know', async () => {
    await manager('dpkg', '[ "$2" = /bin/no-such-cli ] && echo "old-cli: $2"');
    assert.equal((await ownerOf('/usr/bin/no-such-cli', { PATH: folder }))?.removeWith, 'apt-get remove old-cli');
  });

  it('goes by the name of a link before what it leads to', async () => {
    await mkdir(join(folder, 'Cellar', 'mine'), { recursive: true });
    await symlink('/bin/sh', join(folder, 'Cellar', 'mine', 'cli'));
    await manager('dpkg', 'echo "dash: $2"');
    assert.equal((await ownerOf(join(folder, 'Cellar', 'mine', 'cli'), { PATH: folder }))?.removeWith, 'brew uninstall mine');
  });

  it('is nobody on a machine without managers', async () => {
    assert.equal(await ownerOf('/opt/x', { PATH: folder }), undefined);
  });
});
