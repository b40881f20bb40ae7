import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/shared.ts';
import { upgrade } from '../support/upgrade-process.ts';

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string; readonly groups?: readonly string[] };
}

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

async function auditOf({ plane }: InstalledCluster): Promise<readonly AuditEvent[]> {
  const lines = (await readFile(plane.auditLog, 'utf8')).trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditEvent);
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

  it('every request and every child process reaches the chosen cluster as the chosen user, and no other', async () => {
    const kubeconfig = await twoContexts(chosen, other);
    const [before, untouched] = [(await auditOf(chosen)).length, (await auditOf(other)).length];
    const flags = ['--context', 'right', '--as', OPERATOR, '--as-group', GROUP];
    const run = ['run', '--yes', '--skip', 'cli', '--manifest-url', ownReleases, ...flags];
    const result = await upgrade(run, { ...chosen.around, kubeconfig });
    assert.equal(result.exitCode, 0, `${result.stdout}\n${result.stderr}`);

    const ours = (await auditOf(chosen)).slice(before).filter((event) => /netsvc_upgrade|^kubectl/.test(event.userAgent ?? ''));
    for (const program of ['kubectl/', 'kubectl-netsvc_upgrade'])
      for (const verb of ['get', 'patch'])
        assert.ok(
          ours.some((event) => event.userAgent?.startsWith(program) && event.verb === verb),
          `${program} ${verb}`,
        );
    const strangers = ours.filter(
      (event) => event.impersonatedUser?.username !== OPERATOR || !event.impersonatedUser.groups?.includes(GROUP),
    );
    assert.deepEqual(
      strangers.map((event) => `${event.verb} ${event.requestURI}`),
      [],
    );
    const elsewhere = (await auditOf(other)).slice(untouched).filter((event) => /netsvc_upgrade|^kubectl/.test(event.userAgent ?? ''));
    assert.deepEqual(elsewhere, []);
    assert.match(await other.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[0].image}'), /:v3\.26\.4$/);
  });

  it('as a user without rights it changes nothing and says what is missing', async () => {
    const result = await upgrade(['run', '--yes', '--manifest-url', ownReleases, '--profile', 'netsvc', '--as', 'nobody'], other.around);
    assert.equal(result.exitCode, 1, `${result.stdout}\n${result.stderr}`);
    assert.match(result.stdout + result.stderr, /forbid|cannot|not allowed|may not/i);
    assert.match(await other.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[0].image}'), /:v3\.26\.4$/);
  });
});
