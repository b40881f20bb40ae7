import assert from 'node:assert/strict';
import { find } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';
import { MIGRATIONS, migration, POOLS, pools } from '../fixtures/reports.ts';
import { shared } from '../support/installed-cluster.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const INSTALLATION = '/apis/operator.tigera.io/v1/installations/default';
const INFORMATION = 'clusterinformations.crd.projectcalico.org';
/** Of every operator install without the v3 API: Typha is replaced with the agents, and the status `tiers` has nothing to serve it. */
const HEALTHY = ['NS-405 warning', 'NS-627 warning'];

/** The API server, by the name that the operator and the agents are given. */
const endpoint = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kubernetes-services-endpoint', namespace: 'tigera-operator' },
  data: { KUBERNETES_SERVICE_HOST: 'api.internal.example', KUBERNETES_SERVICE_PORT: '443' },
};

interface Finding {
  readonly id: string;
  readonly outcome: string;
  readonly evidence: readonly { readonly text: string; readonly detail?: string }[];
}

describe('states that public reports tell of, on a real control plane', () => {
  const cluster = shared(() => operatedCluster({ mode: 'well', pace: 0.1 }, { spec: POOLS }));

  it('nothing is found in a healthy installation of the operator', async () => {
    await apply(...pools.alike);
    await answered();
    assert.deepEqual(await foundBesides(), []);
  });

  it('a pool that differs is an error where the operator owns it, and a warning where it changes nothing', async () => {
    await apply(...pools.differing);
    const [owned, ...others] = await foundBesides();
    assert.deepEqual([owned?.says, others], ['NS-624 error', []]);
    assert.match(owned?.evidence ?? '', /IPPool\/first: encapsulation is IPIP .*, and VXLAN in the Installation/);
    assert.match(owned?.evidence ?? '', /IPPool\/second: natOutgoing is false, and Enabled in the Installation/);
    await apply(...pools.differingUnlabelled);
    assert.deepEqual(await saysBesides(), ['NS-624 warning']);
    await apply(...pools.alike);
  });

  it('a locked datastore and a migration of it are errors', async () => {
    await apply(MIGRATIONS);
    await kubectl('wait', '--for=condition=Established', `crd/${MIGRATIONS.metadata.name}`);
    await apply(migration);
    const locked = (isReady: boolean) => ['--type=merge', '-p', JSON.stringify({ spec: { datastoreReady: isReady } })];
    await kubectl('patch', INFORMATION, 'default', ...locked(false));
    const [first, ...others] = await foundBesides();
    assert.deepEqual([first?.says, others], ['NS-115 error', []]);
    assert.match(first?.evidence ?? '', /^ClusterInformation\/default: the datastore is locked/m);
    assert.match(first?.evidence ?? '', /^DatastoreMigration\/to-native: .*phase WaitingForConflictResolution/m);
    await kubectl('patch', INFORMATION, 'default', ...locked(true));
    await kubectl('delete', 'crd', MIGRATIONS.metadata.name);
  });

  it('an API server that is reached by a name alone is an error, for new agents ask the DNS of the cluster', async () => {
    await apply(endpoint);
    const [first, ...others] = await foundBesides();
    assert.deepEqual([first?.says, others], ['NS-609 error', []]);
    assert.match(first?.evidence ?? '', /^cluster-dns: .*Seen on: the API server is api\.internal\.example\./m);
    await kubectl('delete', 'configmap', '-n', endpoint.metadata.namespace, endpoint.metadata.name);
    assert.deepEqual(await saysBesides(), []);
  });

  it('the mount that agents get from v3.31 on is told, with the command that shows whether nodes can have it', async () => {
    const { stdout } = await cluster.upgrade('preflight', ...CALICO, '-o', 'wide');
    assert.match(stdout, /from v3\.31\.0 on the agents mount \/sys of each node without eBPF too, .*: findmnt -no PROPAGATION \/sys/);
  });

  it('an operator that refuses its Installation is an error with its words, until it is well again', async () => {
    cluster.manner.mode = 'refuses';
    await until('it says so', async () => (await degraded()) === 'True');
    const [first, ...others] = await foundBesides();
    assert.deepEqual([first?.says, others], ['NS-429 error', []]);
    assert.match(first?.evidence ?? '', /is Degraded since .*: InvalidConfigurationError: Invalid Installation provided/);
    cluster.manner.mode = 'well';
    await until('it is well', async () => (await degraded()) === 'False');
    assert.deepEqual(await saysBesides(), []);
  });

  it('an Installation that is being deleted stops preflight and every stage that writes, accepted or not', async () => {
    await cluster.plane.api.send('PATCH', INSTALLATION, { metadata: { finalizers: ['tigera.io/operator-cleanup'] } });
    await kubectl('delete', 'installation', 'default', '--wait=false');
    const [first, ...others] = await foundBesides();
    assert.deepEqual([first?.says, others], ['NS-114 error', []]);
    assert.match(first?.evidence ?? '', /Installation\/default: being deleted since 2\d+-.*Z; it waits for tigera\.io\/operator-cleanup/);
    const before = await cluster.versions();
    for (const stage of ['crds', 'apply']) {
      const refused = await cluster.upgrade(stage, '--yes', ...CALICO, '--accept', 'NS-114');
      assert.equal(refused.exitCode, 3, told(refused));
      assert.match(refused.stdout, /^Not begun, because of NS-114: /m);
    }
    assert.equal(await cluster.versions(), before);
  });

  /** What preflight finds that a healthy installation has not. */
  async function foundBesides() {
    const { stdout, stderr } = await cluster.upgrade('preflight', ...CALICO, '-o', 'json');
    const { findings } = (stdout.startsWith('{') ? JSON.parse(stdout) : assert.fail(stderr)) as { readonly findings: readonly Finding[] };
    return findings
      .filter(({ outcome }) => outcome === 'error' || outcome === 'warning')
      .map(({ id, outcome, evidence }) => ({
        says: `${id} ${outcome}`,
        evidence: evidence.map(({ text, detail }) => `${text}: ${detail}`).join('\n'),
      }))
      .filter(({ says }) => !HEALTHY.includes(says));
  }

  async function saysBesides(): Promise<readonly string[]> {
    return (await foundBesides()).map(({ says }) => says);
  }

  /** Of the operator about the Installation as it is. */
  async function answered(): Promise<void> {
    await until('the operator has answered', async () => {
      const { metadata } = (await find(cluster.plane.api, INSTALLATION)) ?? assert.fail('the Installation is there');
      const seen = await cluster.read('tigerastatus calico', '{.status.conditions[*].observedGeneration}');
      return seen.split(' ').every((one) => Number(one) === metadata.generation);
    });
  }

  function degraded(): Promise<string> {
    return cluster.read('tigerastatus calico', '{.status.conditions[?(@.type=="Degraded")].status}');
  }

  async function kubectl(...args: readonly string[]): Promise<void> {
    assertSucceeded(await cluster.plane.kubectl(args));
  }

  async function apply(...objects: readonly object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    assertSucceeded(await cluster.plane.kubectl(['apply', '-f', '-'], JSON.stringify(list)));
  }
});
