import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { playEndpointControllers } from '../control-plane/host-endpoint-controllers.ts';
import { hostFleet } from '../support/hep-fleet.ts';
import { NETSVC_FLEET } from '../support/hep-services.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { type AuditEvent, asAnybodyElse, type MisleadingMachine, misleadingMachine, programRequests } from '../support/misleading.ts';
import { patient } from '../support/patience.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { installClusterCli } from '../support/service-cli.ts';
import { NETSVC_TARGET } from '../support/target.ts';
import { assertSucceeded, surroundingsEnv, upgrade } from '../support/upgrade-process.ts';

const OPERATOR = 'upgrade-operator';
const GROUP = 'upgraders';
const SOURCE = manifestFile('v3.26.4', 'netsvc.yaml', ownReleases);
const { group, createdBy, allowAllProfile, agents } = NETSVC_FLEET;

/** kubectl's current context points at a cluster that must never be touched; the chosen one is another. */
async function twoContexts(chosen: InstalledCluster, other: InstalledCluster): Promise<string> {
  const view = async ({ plane }: InstalledCluster) =>
    JSON.parse((await plane.kubectl(['config', 'view', '--raw', '--flatten', '-o', 'json'])).stdout);
  const [right, wrong] = [await view(chosen), await view(other)];
  const rename = (config: typeof right, name: string) => ({
    clusters: [{ name, cluster: config.clusters[0].cluster }],
    users: [{ name, user: config.users[0].user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
  const [a, b] = [rename(wrong, 'wrong'), rename(right, 'right')];
  const merged = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'wrong',
    clusters: [...a.clusters, ...b.clusters],
    users: [...a.users, ...b.users],
    contexts: [...a.contexts, ...b.contexts],
  };
  const file = join(chosen.around.home, 'two-contexts');
  await writeFile(file, JSON.stringify(merged), { mode: 0o600 });
  return file;
}

/** Every ambient hint of the machine leads to the other cluster; only the flags say which is meant. For helm: chart.test.ts. */
describe('one cluster and one user for every tool', function () {
  this.timeout(280_000);
  let chosen: InstalledCluster;
  let other: InstalledCluster;
  let machine: MisleadingMachine;
  const ends: (() => Promise<void>)[] = [];
  before(async () => {
    [chosen, other] = await Promise.all([
      installedCluster({ manifest: SOURCE, nodes: 3, audit: 'requests' }),
      installedCluster({ manifest: SOURCE, nodes: 3, audit: 'requests' }),
    ]);
    ends.push(
      () => chosen.stop(),
      () => other.stop(),
    );
    machine = await misleadingMachine(other.plane, chosen.around.home, { apiVersion: `${group}/v3`, kind: 'NetsvcAPIConfig' });
    ends.push(machine.stop);
    await installClusterCli(chosen, join(chosen.around.home, 'bin', 'netsvcctl'), {
      group,
      client: NETSVC_TARGET,
      usualConfig: machine.cliConfig,
    });
    await chosen.plane.kubectl(['create', 'clusterrolebinding', 'upgraders', '--clusterrole=cluster-admin', `--group=${GROUP}`]);
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** Runs a command against the chosen cluster as the chosen user; the requests that it and its programs sent there. Nothing may reach the other. */
  async function asOperator(args: readonly string[]): Promise<readonly AuditEvent[]> {
    const kubeconfig = await twoContexts(chosen, other);
    const [before, untouched] = [(await programRequests(chosen.plane)).length, (await programRequests(other.plane)).length];
    const flags = ['--manifest-url', ownReleases, '--kubeconfig', kubeconfig, '--context', 'right', '--as', OPERATOR, '--as-group', GROUP];
    const path = [join(chosen.around.home, 'bin'), surroundingsEnv(chosen.around).PATH].join(delimiter);
    const result = await upgrade([...args, ...flags], { ...chosen.around, env: { ...machine.env, PATH: path } });
    assert.equal(machine.visits(), 0, `somebody was led astray:\n${result.stdout}\n${result.stderr}`);
    assert.deepEqual((await programRequests(other.plane)).slice(untouched), []);
    assertSucceeded(result);
    const events = (await programRequests(chosen.plane)).slice(before);
    assert.deepEqual(asAnybodyElse(events, OPERATOR, GROUP), []);
    return events;
  }

  const has = (events: readonly AuditEvent[], program: string, verb: string, resource = '') =>
    events.some((event) => event.userAgent?.startsWith(program) && event.verb === verb && event.requestURI.includes(resource));

  it('the machine leads kubectl and the service’s CLI astray where nobody keeps them', async () => {
    const env = { ...surroundingsEnv(chosen.around), ...machine.env };
    for (const [program, args] of [
      [chosen.around.kubectl, ['get', 'nodes']],
      [join(chosen.around.home, 'bin', 'netsvcctl'), ['get', 'hostendpoints', '-o', 'json']],
    ] as const) {
      const before = machine.visits();
      await execa(program, args, { env, extendEnv: false, reject: false, timeout: patient(30_000) });
      assert.ok(machine.visits() > before, program);
    }
    machine.forget();
  });

  it('every request and every child process of a run reaches the chosen cluster as the chosen user, and no other', async () => {
    const events = await asOperator(['run', '--yes', '--skip', 'cli']);
    for (const program of ['kubectl/', 'kubectl-netsvc_upgrade'])
      for (const verb of ['get', 'patch']) assert.ok(has(events, program, verb), `${program} ${verb}`);
    assert.match(await other.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[0].image}'), /:v3\.26\.4$/);
  });

  it('the service’s CLI as well, when it only looks', async () => {
    const events = await asOperator(['verify']);
    // The stand-in works by kubectl; of the program itself nothing else asks for this by kubectl.
    assert.ok(has(events, 'kubectl/', 'get', 'clusterinformations'));
  });

  it('the service’s CLI when it switches automatic host endpoints on and deletes the old ones', async () => {
    const [mine, theirs] = await Promise.all([chosen, other].map(({ plane }) => hostFleet(plane.api, group)));
    ends.push(
      () => mine?.stop() ?? Promise.resolve(),
      () => theirs?.stop() ?? Promise.resolve(),
    );
    const played = { group, createdBy, allowAllProfile, agents, manner: 'new', never: new Set<string>(), late: new Map() } as const;
    const controllers = playEndpointControllers(chosen.plane.api, played);
    ends.push(() => controllers.stop());
    await Promise.all([mine?.reset(), theirs?.reset()]);
    const before = await theirs?.state();
    const events = await asOperator(['hep', '--yes']);
    assert.ok(has(events, 'kubectl/', 'delete', 'hostendpoints'));
    assert.ok(has(events, 'kubectl/', 'patch', 'kubecontrollersconfigurations'));
    assert.deepEqual(await theirs?.state(), before);
  });

  it('as a user without rights it changes nothing and says what is missing', async () => {
    const result = await upgrade(['run', '--yes', '--manifest-url', ownReleases, '--profile', 'netsvc', '--as', 'nobody'], other.around);
    assert.equal(result.exitCode, 1, `${result.stdout}\n${result.stderr}`);
    assert.match(result.stdout + result.stderr, /forbid|cannot|not allowed|may not/i);
    assert.match(await other.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[0].image}'), /:v3\.26\.4$/);
  });
});
