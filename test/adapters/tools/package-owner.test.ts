import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerByPlace, ownerOf } from '../../../src/adapters/tools/package-owner.ts';
import { emptyFolder } from '../../support/folders.ts';

describe('the package that a file is of', () => {
  const placed: readonly [string, string][] = [
    ['/opt/homebrew/Cellar/calicoctl/3.26.1/bin/calicoctl', 'brew uninstall calicoctl'],
    ['/snap/calicoctl/12/bin/calicoctl', 'snap remove calicoctl'],
    ['/snap/bin/kubectl.tool', 'snap remove kubectl'],
    ['/var/lib/snapd/snap/bin/kubectl', 'snap remove kubectl'],
    ['/data/me/.krew/store/calico/v3/kubectl-calico', 'kubectl krew uninstall calico'],
    ['/usr/local/Caskroom/calicoctl/3.26/calicoctl', 'brew uninstall calicoctl'],
    ['C:\\Users\\me\\.krew\\store\\calico\\v3\\kubectl-calico.exe', 'kubectl krew uninstall calico'],
    ['/nix/store/abc0-calicoctl-3.26/bin/calicoctl', 'nix profile remove calicoctl-3.26'],
  ];
  for (const [file, removeWith] of placed)
    it(`is told by the place ${file}`, () => {
      const owner = ownerByPlace(file);
      assert.equal(typeof owner === 'object' && owner.removeWith, removeWith);
    });

  const packaged = [
    '/usr/bin/c',
    '/bin/c',
    '/usr/sbin/c',
    '/usr/lib/x/c',
    '/opt/x/bin/c',
    'C:\\ProgramData\\chocolatey\\bin\\c.exe',
    'C:/ProgramData/chocolatey/bin/c.exe',
    'C:\\Program Files\\x\\c.exe',
    'C:\\Program Files (x86)\\x\\c.exe',
    'C:\\Users\\me\\AppData\\Local\\Microsoft\\WinGet\\Links\\c.exe',
  ];
  for (const file of packaged)
    it(`may be some package's where packages are installed: ${file}`, () => assert.equal(ownerByPlace(file), 'perhaps a package'));

  for (const file of ['/usr/local/bin/c', '/data/me/bin/c', '/data/opt/c', '/data/tools/c', 'C:\\tools\\c.exe'])
    it(`is none for a file of the user's own: ${file}`, () => assert.equal(ownerByPlace(file), undefined));
});

describe('ownerOf', () => {
  const folder = emptyFolder('owner of-');

  it('follows links to where the file really lies', async () => {
    await symlink('/bin/sh', join(folder, 'cli'));
    assert.equal(await ownerOf(join(folder, 'cli')), 'perhaps a package');
  });

  it('goes by the name of a link before what it leads to', async () => {
    await mkdir(join(folder, 'Cellar', 'mine'), { recursive: true });
    await symlink('/bin/sh', join(folder, 'Cellar', 'mine', 'cli'));
    assert.deepEqual(await ownerOf(join(folder, 'Cellar', 'mine', 'cli')), { manager: 'brew', removeWith: 'brew uninstall mine' });
  });

  it('goes by the name of what is not there', async () => {
    assert.equal(await ownerOf(join(folder, 'gone')), undefined);
  });
});
