import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { testFolder } from '../support/folders.ts';

const root = join(import.meta.dirname, '..', '..');

/** The other way to get it: `npm install --global`, on a machine that has Node. */
describe('the npm package', function () {
  this.timeout(280_000);

  const folder = testFolder('netsvc npm ');
  let prefix: string;
  let packed: readonly string[];

  before(async () => {
    prefix = join(folder, 'a prefix');
    mkdirSync(prefix);
    await execa(process.execPath, ['build/build.ts', '--if-stale'], { cwd: root });
    await execa('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
    const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz'));
    assert.ok(tarball);
    packed = (await execa('tar', ['-tzf', join(folder, tarball)])).stdout.split('\n');
    await execa('npm', ['install', '--global', '--engine-strict', '--no-audit', '--no-fund', '--prefix', prefix, join(folder, tarball)]);
    mkdirSync(join(folder, 'node only'));
    symlinkSync(process.execPath, join(folder, 'node only', 'node'));
  });

  it('holds the program, the notices and nothing of the sources', () => {
    for (const file of [
      'package/dist/cli/main.js',
      'package/dist/THIRD-PARTY-NOTICES.txt',
      'package/LICENSE',
      'package/bin/kubectl-netsvc_upgrade',
      'package/bin/start.cjs',
      'package/docs/reference/permissions.md',
    ])
      assert.ok(packed.includes(file), file);
    assert.deepEqual(
      packed.filter((file) => /^package\/(src|test|build|archives|node_modules)\/|\/stamp$/.test(file)),
      [],
    );
  });

  it('links the plugin where kubectl and the service’s CLI find it', () => {
    for (const name of ['kubectl-netsvc_upgrade', 'netsvcctl-upgrade'])
      assert.match(readlinkSync(join(prefix, 'bin', name)), /kubectl-netsvc-upgrade\/bin\/start\.cjs$/);
  });

  it('runs with the Node on PATH, and nothing else there', async () => {
    const env = { PATH: [join(prefix, 'bin'), join(folder, 'node only')].join(delimiter), HOME: folder };
    const run = (...args: readonly string[]) => execa(join(prefix, 'bin', 'kubectl-netsvc_upgrade'), args, { env, extendEnv: false });
    assert.match((await run('--version')).stdout, /^netsvc-upgrade v/);
    assert.match((await run('explain', 'NS-101')).stdout, /NS-101/);
  });

  it('is started by the file that npm makes commands for Windows of', () => {
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly bin: Readonly<Record<string, string>> };
    for (const file of Object.values(bin))
      assert.match(readFileSync(join(prefix, 'lib', 'node_modules', 'kubectl-netsvc-upgrade', file), 'utf8'), /^#!\/usr\/bin\/env node\n/);
  });
});
