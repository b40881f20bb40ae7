import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { differences } from '../support/end-state.ts';
import { readObjects } from '../support/former-state.ts';
import { assertWritesNothing, type InstalledCluster, installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases, releases } from '../support/releases.ts';
import { edit, opened } from '../support/rollback-story.ts';
import { BACK } from '../support/rollback-sweep.ts';
import { CALICO_TARGET, NETSVC_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, killedAt, startUpgrade, told, untilSaid } from '../support/upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const NETSVC = ['--manifest-url', ownReleases] as const;
const RUN = ['run', '--yes', '--skip', 'cli'] as const;
const AGENT_IMAGE = '{.spec.template.spec.containers[0].image}';

/** Order in which the waves reached the cluster, from the times of the applying manager. */
async function appliedAt(cluster: InstalledCluster, resource: string): Promise<number> {
  const times = await cluster.read(resource, '{range .metadata.managedFields[?(@.manager=="kubectl")]}{.time}{"\\n"}{end}');
  return Math.max(
    ...times
      .trim()
      .split('\n')
      .map((line) => Date.parse(line)),
  );
}

async function assertAsBefore(cluster: InstalledCluster, before: Awaited<ReturnType<typeof readObjects>>): Promise<void> {
  assert.deepEqual(differences(before, await readObjects(cluster.plane.api)), []);
}

/** What a rollback goes by is in the cluster: in few Secrets, with no value of another Secret and no rights. */
async function assertKeepsLittle({ plane }: InstalledCluster): Promise<void> {
  const { stdout } = await plane.kubectl([
    '-n',
    'kube-system',
    'get',
    'secrets',
    '--field-selector',
    'type=netsvc-upgrade/state',
    '-o',
    'json',
  ]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly { readonly data: Readonly<Record<string, string>> }[] };
  assert.ok(items.length > 0 && items.length <= 3, `${items.length} Secrets`);
  const texts = items.flatMap(({ data }) =>
    Object.entries(data).map(([key, value]) => {
      const bytes = Buffer.from(value, 'base64');
      return (key.includes('.gz') ? gunzipSync(bytes) : bytes).toString();
    }),
  );
  assert.match(texts.join('\n'), /1400/);
  // Objects that are kept; what only names one is none.
  const kept = texts.join('\n').match(/\{"apiVersion":"[^"]*","kind":"\w+","metadata"/g) ?? [];
  assert.deepEqual(
    kept.filter((one) => /"kind":"(Secret|Cluster|Role|Namespace|APIService|\w+WebhookConfiguration)/.test(one)),
    [],
  );
  assert.ok(kept.length > 0);
}

/** One story, in order. */
describe('procedure C on a real control plane, real manifests with Typha and edits of a user, and its rollback', function () {
  this.timeout(400_000);
  const cluster = shared(async () => {
    const found = await opened('calico-typha.yaml');
    await edit(found, 'FELIX_LOGSEVERITYSCREEN=debug');
    await found.plane.kubectl(['-n', 'kube-system', 'patch', 'cm', 'calico-config', '-p', '{"data":{"veth_mtu":"1400"}}']);
    return { ...found, before: await readObjects(found.plane.api) };
  });

  it('preflight finds out what is installed and changes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade('preflight', ...CALICO));
  });

  it('plan --diff shows each object, live against planned, ends with 2 when asked, and changes nothing', async () => {
    const before = await cluster.versions();
    const result = await cluster.upgrade('plan', '--diff', '--detailed-exitcode', ...CALICO, '--skip', 'cli');
    assert.equal(result.exitCode, 2, told(result));
    assert.match(result.stdout, /^--- live\/(DaemonSet\/kube-system\/calico-node)\n\+\+\+ planned\/\1\n@@ /m);
    assert.match(result.stdout, /^--- \/dev\/null\n\+\+\+ planned\/CustomResourceDefinition\/\S+\n@@ -0,0 \+1,\d+ @@\n\+apiVersion: /m);
    assert.equal(/last-applied-configuration|managedFields:|^[-+ ]status:$/m.test(result.stdout), false);
    assert.deepEqual(await cluster.versions(), before);
  });

  it('refuses to change anything off a terminal without --yes', async () => {
    const before = await cluster.versions();
    const result = await cluster.upgrade('run', ...CALICO, '--skip', 'cli');
    assert.equal(result.exitCode, 64, told(result));
    assert.deepEqual(await cluster.versions(), before);
  });

  it('run takes the cluster to the target, agents before Typha before controllers', async () => {
    assertSucceeded(await cluster.upgrade(...RUN, ...CALICO));
    assert.match(await cluster.read('ds -n kube-system calico-node', AGENT_IMAGE), pattern`:${CALICO_TARGET}$`);
    const agents = await appliedAt(cluster, 'ds -n kube-system calico-node');
    const typha = await appliedAt(cluster, 'deploy -n kube-system calico-typha');
    const controllers = await appliedAt(cluster, 'deploy -n kube-system calico-kube-controllers');
    assert.ok(agents <= typha && typha <= controllers, `${agents} ${typha} ${controllers}`);
    assert.equal(await cluster.read('clusterinformations.crd.projectcalico.org default', '{.spec.calicoVersion}'), CALICO_TARGET);
  });

  it('leaves nothing of the old release on the agents', async () => {
    const names = await cluster.read('ds -n kube-system calico-node', '{.spec.template.spec.initContainers[*].name}');
    assert.equal(names, 'upgrade-ipam install-cni ebpf-bootstrap');
    const generation = await cluster.read('ds -n kube-system calico-node', '{.metadata.generation}');
    assert.equal(generation, '3', 'the agents were rolled once after the edit');
  });

  it('a second run writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...RUN, ...CALICO));
  });

  it('status tells from the cluster what the run did', async () => {
    const result = await cluster.upgrade('status', '--profile', 'calico');
    assertSucceeded(result);
    assert.match(result.stdout, /v3\.27\.5/);
    assert.match(result.stdout, pattern`${CALICO_TARGET}`);
    await assertKeepsLittle(cluster);
  });

  it('a rollback gives every object its former state, edits of before included, and a second one writes nothing', async () => {
    const back = await cluster.upgrade(...BACK);
    assertSucceeded(back);
    const order = ['configuration', 'typha', 'agents', 'controllers'].map((wave) => back.stderr.indexOf(`-${wave}.yaml`));
    assert.deepEqual(
      order.toSorted((a, b) => a - b),
      order,
      back.stderr,
    );
    await assertAsBefore(cluster, cluster.before);
    const again = await cluster.upgrade(...BACK);
    assertSucceeded(again);
    assert.match(again.stdout, /Nothing was changed by this command/);
    await assertAsBefore(cluster, cluster.before);
  });
});

/** One story: every end that a run can have before its own, on one cluster, and the same command goes on each time. */
describe("procedure C on a real control plane, the document's names", () => {
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 3 }));

  it('killed in its backup, it begins again; one stuck node stops it at the time limit', async () => {
    await cluster.plane.fault('node-02', 'image-pull');
    // Before kubectl is started: that lives on, and a run that only waits tells no event.
    await killedAt([...RUN, ...NETSVC], cluster.around, /backup: step 1/);
    const stuck = await cluster.upgrade(...RUN, ...NETSVC, '--timeout', '10s');
    assert.equal(stuck.exitCode, 124, told(stuck));
    assert.match(stuck.stderr, /node-02/);
  });

  it('stops at one Ctrl-C with exit 130, says how to go on, and gives the lock back', async () => {
    const child = startUpgrade([...RUN, ...NETSVC], cluster.around);
    await untilSaid(child, /wait for DaemonSet/);
    child.kill('SIGINT');
    const { exitCode, stdout, stderr } = await child;
    assert.equal(exitCode, 130, told({ exitCode, stdout, stderr }));
    assert.match(stdout, /resume: /);
    assert.match((await cluster.upgrade('unlock', '--profile', 'netsvc')).stdout, /lock: free/);
  });

  it('killed in wait, and freed, the same command goes on to the target', async () => {
    await killedAt([...RUN, ...NETSVC], cluster.around, /netsvc-node node-\d+ (updating|new|failed)/);
    await cluster.plane.fault('node-02', 'none');
    assertSucceeded(await cluster.upgrade(...RUN, ...NETSVC));
    assert.match(await cluster.read('ds -n kube-system netsvc-node', AGENT_IMAGE), pattern`:${NETSVC_TARGET}$`);
  });

  it('kubectl describe of the agents shows where the run began, failed and ended', async () => {
    const { stdout } = await cluster.plane.kubectl(['describe', 'ds', '-n', 'kube-system', 'netsvc-node']);
    const told = stdout.split('\n').filter((line) => line.includes('kubectl-netsvc-upgrade'));
    const rows = told.map((line) => line.trim().split(/ {2,}/)).map(([type, reason, , , message = '']) => [type, reason, message]);
    assert.deepEqual(
      [...new Set(rows.map(([type, reason]) => `${type} ${reason}`))].toSorted(),
      ['Normal NetsvcUpgradeCompleted', 'Normal NetsvcUpgradeStarted', 'Warning NetsvcUpgradeFailed'],
      stdout,
    );
    const messages = rows.map(([, , message]) => message).join('\n');
    assert.match(messages, pattern`(?m:^Upgrade v3\.26\.4 → ${NETSVC_TARGET} failed at stage \S+ \(run \S+, by \S+\): .*netsvc-node)`);
    assert.match(messages, pattern`(?m:^Upgrade v3\.26\.4 → ${NETSVC_TARGET} is done \(run )`);
  });

  it('a second run writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...RUN, ...NETSVC));
  });
});
