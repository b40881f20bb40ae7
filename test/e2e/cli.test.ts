import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { sha256 } from '../support/empty-sources.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { installStandIn } from '../support/stand-in-cli.ts';
import { ofRelease } from '../support/stand-in-cli-state.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, told, upgrade } from '../support/upgrade-process.ts';

describe('the CLI change on a real control plane, with the stand-in CLI', () => {
  let cluster: InstalledCluster;
  let folder = '';
  let bin = '';
  /** The new CLI in the artifact source. */
  let published = '';

  before(async () => {
    cluster = await installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 });
    folder = join(cluster.around.home, 'cli');
    bin = join(folder, 'path');
    await mkdir(bin, { recursive: true });
    await cp(ownReleases, join(folder, 'releases'), { recursive: true });
    await mkdir(join(folder, 'releases', NETSVC_TARGET, 'bin'), { recursive: true });
    const arch = process.arch === 'x64' ? 'amd64' : process.arch;
    published = join(folder, 'releases', NETSVC_TARGET, 'bin', `netsvcctl-${process.platform}-${arch}`);
    const kubernetes = ofRelease(NETSVC_TARGET);
    installStandIn(published, { client: NETSVC_TARGET, kubernetes });
    installStandIn(join(bin, 'netsvcctl'), { generation: 'old', client: 'v3.26.4', kubernetes });
  });
  after(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const state = () => join(cluster.around.home, '.local', 'state', 'netsvc-upgrade');
  const run = (...args: readonly string[]) => {
    const { around } = cluster;
    const path = [bin, join(around.kubectl, '..'), '/usr/bin', '/bin'].join(delimiter);
    const stray = { ETCD_ENDPOINTS: 'http://192.0.2.1:2379', CALICO_DATASTORE_TYPE: 'etcdv3' };
    return upgrade([...args, '--manifest-url', join(folder, 'releases')], { ...around, env: { PATH: path, ...stray } });
  };

  it('is only looked at by plan and by a dry run: nothing is downloaded', async () => {
    const unaccepted = await run('plan');
    assert.equal(unaccepted.exitCode, 3, told(unaccepted));
    assert.match(unaccepted.stdout, /NS-309 no checksum is known/);
    const accepted = ['--accept', `NS-309=${basename(published)}`];
    assertSucceeded(await run('plan', ...accepted));
    assertSucceeded(await run('cli', '--dry-run=server', ...accepted));
    const [uid = ''] = await readdir(state());
    assert.deepEqual(
      (await readdir(join(state(), uid))).filter((name) => name.startsWith('netsvcctl')),
      [],
    );
  });

  it('replaces the old CLI in place, keeps it, and verifies with the new one in spite of stray settings', async () => {
    await writeFile(`${published}.sha256`, sha256(await readFile(published)));
    const result = await run('run', '--yes');
    assertSucceeded(result);
    assert.match(await readFile(join(bin, 'netsvcctl'), 'utf8'), pattern`releases/${NETSVC_TARGET}/bin`);
    assert.doesNotMatch(result.stdout, /NS-802/, 'the run itself has cured it');
    const [uid = ''] = await readdir(state());
    const [kept = ''] = await readdir(join(state(), uid, 'old-cli'));
    assert.match(kept, /^netsvcctl-v3\.26\.4/);
    assert.match(await readFile(join(state(), uid, 'old-cli', kept), 'utf8'), /path\/netsvcctl\.json/);
    const verified = await run('verify');
    assertSucceeded(verified);
    assert.match(verified.stdout, pattern`NS-301 .*${NETSVC_TARGET}.*netsvcctl`);
  });

  it('has nothing to do the second time', async () => {
    const before = await readFile(join(bin, 'netsvcctl'), 'utf8');
    assertSucceeded(await run('cli', '--yes'));
    assert.equal(await readFile(join(bin, 'netsvcctl'), 'utf8'), before);
  });

  it('writes how it reaches the cluster where a person names a file, once', async () => {
    const file = join(folder, 'netsvcctl.cfg');
    assertSucceeded(await run('cli', '--yes', '--cli-config', file));
    const written = await readFile(file, 'utf8');
    assert.deepEqual(parse(written).spec, { datastoreType: 'kubernetes', kubeconfig: cluster.around.kubeconfig });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const again = await run('cli', '--yes', '--cli-config', file, '-o', 'json');
    assert.equal(JSON.parse(again.stdout).writes, 0, told(again));
  });
});
