import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { goPlatform } from '../control-plane/build-plan.ts';
import { type KrewHome, makeKrewHome } from '../krew/krew-home.ts';
import { type PackedRelease, packRelease, runtimeProblem } from '../krew/packed-release.ts';
import { resolveKrew } from '../krew/programs.ts';
import { own } from '../support/installed-agents.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { lacking } from '../support/needs.ts';
import { ownReleases } from '../support/releases.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

/** One story, in order: an operator gets the plugin from a company's index, uses it, updates it and removes it. */
describe('the plugin from a krew index', function () {
  this.timeout(280_000);

  let release: PackedRelease;
  let home: KrewHome;
  let cluster: InstalledCluster | undefined;
  const plugin = () => join(home.root, 'bin', 'kubectl-netsvc_upgrade');
  /** kubectl, the plugin, and nothing else: no Node, no npm, no shell tools. */
  const bare = () => ({ PATH: [join(home.root, 'bin'), home.kubectlOnly].join(delimiter), HOME: join(home.root, '..') });
  const kubectl = (args: readonly string[], env = {}) => home.run(join(home.kubectlOnly, 'kubectl'), args, { ...bare(), ...env });

  before(async function () {
    this.timeout(0); // the very first run fetches a runtime and builds krew
    const programs = await resolvePrograms();
    const platform = goPlatform(process.platform, process.arch);
    const krew = await resolveKrew().catch((thrown: Error) => thrown);
    const problem = krew instanceof Error ? krew.message : runtimeProblem(platform);
    if (problem !== undefined && process.env.CI === 'true') throw new Error(problem);
    if (krew instanceof Error || problem !== undefined) return lacking(this, String(problem));
    release = await packRelease(platform);
    home = await makeKrewHome(programs.kubectl, krew);
    await home.publish(release.manifest, 'v0.0.1');
  });
  after(async () => {
    await cluster?.stop();
    if (home && existsSync(home.root)) execFileSync('chmod', ['-R', 'u+w', home.root]);
    home?.remove();
    release?.stop();
  });

  it('is found in the index with its description', async () => {
    assertSucceeded(await home.krew(['index', 'add', 'company', home.indexUrl]));
    const { exitCode, stdout } = await home.krew(['info', 'company/netsvc-upgrade']);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^NAME: netsvc-upgrade\nINDEX: company\nURI: http:.*\nSHA256: [0-9a-f]{64}\nVERSION: v0\.0\.1\n/);
    assert.match(stdout, /kubectl netsvc-upgrade preflight/);
  });

  it('is installed, linked and listed', async () => {
    const { exitCode, stderr } = await home.krew(['install', 'company/netsvc-upgrade']);
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, /Installed plugin: netsvc-upgrade/);
    assert.match(stderr, /Start with: kubectl netsvc-upgrade preflight/);
    assert.match((await home.krew(['list'])).stdout, /company\/netsvc-upgrade(\s+v0\.0\.1)?/);
    assert.match(readlinkSync(plugin()), /store\/netsvc-upgrade\/v0\.0\.1\/bin\/kubectl-netsvc_upgrade$/);
  });

  it('is brought up to date from a previous version', async () => {
    await home.publish(release.manifest, 'v0.1.0');
    assertSucceeded(await home.krew(['update']));
    assertSucceeded(await home.krew(['upgrade', 'netsvc-upgrade']));
    assert.match(readlinkSync(plugin()), /store\/netsvc-upgrade\/v0\.1\.0\//);
    assert.deepEqual(readdirSync(join(home.root, 'store', 'netsvc-upgrade')), ['v0.1.0']);
  });

  it('leaves `kubectl plugin list` without a warning', async () => {
    const { exitCode, stdout, stderr } = await kubectl(['plugin', 'list']);
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${plugin()}$`, 'm'));
  });

  it('answers with kubectl alone on the PATH, from a folder that nobody may write', async () => {
    execFileSync('chmod', ['-R', 'a-w', join(home.root, 'store')]);
    const { exitCode, stdout, stderr } = await kubectl(['netsvc-upgrade', '--version']);
    assert.deepEqual([exitCode, stdout, stderr], [0, 'netsvc-upgrade v0.1.0', '']);
  });

  it('runs preflight on the real control plane there, and changes nothing', async () => {
    cluster = await installedCluster({ manifest: own('v3.26.4', 'netsvc'), nodes: 2, maxMinutes: 10 });
    const before = await cluster.versions();
    const store = () => readdirSync(join(home.root, 'store'), { recursive: true }).sort();
    const files = store();
    const args = ['netsvc-upgrade', 'preflight', '-o', 'json', '--manifest-url', ownReleases];
    const { exitCode, stdout, stderr } = await kubectl(args, { KUBECONFIG: cluster.around.kubeconfig });
    assert.ok(exitCode === 0 || exitCode === 3, `exit ${exitCode}: ${stderr}`);
    assert.match(JSON.stringify(JSON.parse(stdout)), /v3\.26\.4/);
    assert.deepEqual(await cluster.versions(), before);
    // A superuser may write even there.
    assert.deepEqual(store(), files);
  });

  it('calls itself as the link to it is called, which the caveats of krew make', async () => {
    const { stdout: info } = await home.krew(['info', 'company/netsvc-upgrade']);
    const line = /\bln -s .*/.exec(info)?.[0] ?? assert.fail(info);
    assertSucceeded(await home.run('/bin/sh', ['-c', line], { ...bare(), PATH: '/usr/bin:/bin', KREW_ROOT: home.root }));
    const { stdout } = await home.run(join(home.root, 'bin', 'netsvcctl-upgrade'), ['preflight', '--help'], bare());
    assert.match(stdout, /netsvcctl upgrade preflight/);
    assert.doesNotMatch(stdout, /kubectl netsvc-upgrade/);
  });

  it('is gone after it is uninstalled', async () => {
    execFileSync('chmod', ['-R', 'u+w', join(home.root, 'store')]);
    assertSucceeded(await home.krew(['uninstall', 'netsvc-upgrade']));
    assert.ok(!existsSync(plugin()) && !existsSync(join(home.root, 'store', 'netsvc-upgrade')));
    assert.doesNotMatch((await home.krew(['list'])).stdout, /netsvc-upgrade/);
  });
});
