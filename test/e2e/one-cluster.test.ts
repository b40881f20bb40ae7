import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type AuditEvent, asAnybodyElse, programRequests } from '../support/audit-log.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { installClusterCli } from '../support/service-cli.ts';
import { surroundingsEnv, upgrade } from '../support/upgrade-process.ts';

const OPERATOR = 'upgrade-operator';
const GROUP = 'upgraders';
const SOURCE = manifestFile('v3.26.4', 'netsvc.yaml', ownReleases);

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

describe('one cluster and one user for every tool', () => {
  let chosen: InstalledCluster;
  let other: InstalledCluster;
  before(async () => {
    [chosen, other] = await Promise.all([
      installedCluster({ manifest: SOURCE, nodes: 2, audit: 'requests' }),
      installedCluster({ manifest: SOURCE, nodes: 1, audit: 'requests' }),
    ]);
    await chosen.plane.kubectl(['create', 'clusterrolebinding', 'upgraders', '--clusterrole=cluster-admin', `--group=${GROUP}`]);
  });
  after(async () => {
    await chosen?.stop();
    await other?.stop();
  });

  /** Runs a command against the chosen cluster as the chosen user; the requests that it and its programs sent there. Nothing may reach the other. */
  async function asOperator(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<readonly AuditEvent[]> {
    const kubeconfig = await twoContexts(chosen, other);
    const [before, untouched] = [(await programRequests(chosen.plane)).length, (await programRequests(other.plane)).length];
    const flags = ['--manifest-url', ownReleases, '--context', 'right', '--as', OPERATOR, '--as-group', GROUP];
    const result = await upgrade([...args, ...flags], { ...chosen.around, kubeconfig, env });
    assert.equal(result.exitCode, 0, `${result.stdout}\n${result.stderr}`);
    assert.deepEqual((await programRequests(other.plane)).slice(untouched), []);
    return (await programRequests(chosen.plane)).slice(before);
  }

  const has = (events: readonly AuditEvent[], program: string, verb: string, resource = '') =>
    events.some((event) => event.userAgent?.startsWith(program) && event.verb === verb && event.requestURI.includes(resource));

  it('every request and every child process reaches the chosen cluster as the chosen user, and no other', async () => {
    const events = await asOperator(['run', '--yes', '--skip', 'cli']);
    for (const program of ['kubectl/', 'kubectl-netsvc_upgrade'])
      for (const verb of ['get', 'patch']) assert.ok(has(events, program, verb), `${program} ${verb}`);
    assert.deepEqual(asAnybodyElse(events, OPERATOR, GROUP), []);
    assert.match(await other.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[0].image}'), /:v3\.26\.4$/);
  });

  it('the service’s CLI as well', async () => {
    const bin = join(chosen.around.home, 'bin');
    await installClusterCli(chosen, join(bin, 'netsvcctl'), { group: 'netsvc.io', client: 'v3.32.2' });
    const path = [bin, surroundingsEnv(chosen.around).PATH].join(delimiter);
    const events = await asOperator(['verify'], { PATH: path });
    // The stand-in works by kubectl; of the program itself nothing else asks for this by kubectl.
    assert.ok(has(events, 'kubectl/', 'get', 'clusterinformations'));
    assert.deepEqual(asAnybodyElse(events, OPERATOR, GROUP), []);
  });

  it('as a user without rights it changes nothing and says what is missing', async () => {
    const result = await upgrade(['run', '--yes', '--manifest-url', ownReleases, '--profile', 'netsvc', '--as', 'nobody'], other.around);
    assert.equal(result.exitCode, 1, `${result.stdout}\n${result.stderr}`);
    assert.match(result.stdout + result.stderr, /forbid|cannot|not allowed|may not/i);
    assert.match(await other.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[0].image}'), /:v3\.26\.4$/);
  });
});
