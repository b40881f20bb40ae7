import assert from 'node:assert/strict';
import { shared } from '../support/installed-cluster.ts';
import { type OperatedCluster, operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { assertUnmoved } from '../support/unmoved-outputs.ts';
import { assertSucceeded, startUpgrade, told } from '../support/upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', ...CALICO] as const;
const WAIT = ['wait', ...CALICO] as const;
const HOLD_MS = 15_000;
const STATUS = (type: string) => `{.status.conditions[?(@.type=="${type}")].status}`;

/** A run that ends well, and whose wait ended only after nothing had changed for as long as all signs have to hold. */
async function endsWell(cluster: OperatedCluster): Promise<void> {
  const child = startUpgrade([...RUN], cluster.around);
  let waited: { readonly at: number; readonly changedAt: number } | undefined;
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (/^\S+ wait: done/m.test(said)) waited ??= { at: Date.now(), changedAt: cluster.changedAt() };
  });
  assertSucceeded(await child);
  assert.ok(waited, said);
  assert.ok(waited.at - waited.changedAt >= HOLD_MS, `it ended ${waited.at - waited.changedAt} ms after the last change`);
  assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), CALICO_TARGET);
  const degraded = `{.items[*]${STATUS('Degraded').slice(1)}`;
  assert.doesNotMatch(await cluster.read('tigerastatuses', degraded), /True/);
  assert.match(
    await cluster.read('ds -n calico-system calico-node', '{.spec.template.spec.containers[0].image}'),
    pattern`:${CALICO_TARGET}$`,
  );
}

/** A wait that is cut short by its time limit, and what it names. */
async function names(cluster: OperatedCluster, words: RegExp, timeout: string): Promise<void> {
  const stuck = await cluster.upgrade(...WAIT, '--timeout', timeout);
  assert.equal(stuck.exitCode, 124, told(stuck));
  assert.match(stuck.stderr, words);
}

describe('an operator that does not answer, on a real control plane', () => {
  const cluster = shared(() => operatedCluster({ mode: 'deaf', pace: 0.1 }));

  it('is named where it is deaf: its statuses stay green, and the run does not end well', async () => {
    const stuck = await cluster.upgrade(...RUN, '--timeout', '100s');
    assert.equal(stuck.exitCode, 124, told(stuck));
    assert.match(stuck.stderr, /deaf operator: Deployment\/tigera-operator\/tigera-operator/);
    assert.equal(await cluster.read('tigerastatuses calico', STATUS('Available')), 'True', 'the old status is still green');
  });

  it('ends well once it answers, and not before a status that turned red after green has healed', async () => {
    cluster.manner.mode = 'flap';
    await endsWell(cluster);
  });
});

describe('an operator that cannot do its work, on a real control plane', () => {
  const cluster = shared(() => operatedCluster({ mode: 'pinned', pace: 0.1 }));

  it('is named where its Deployment is pinned: the old one says that it lacks rights', async () => {
    const stuck = await cluster.upgrade(...RUN, '--timeout', '30s');
    assert.equal(stuck.exitCode, 124, told(stuck));
    await names(cluster, /pinned operator: Deployment\/tigera-operator\/tigera-operator: stays at \S+:v1\.32\.12/, '90s');
  });

  it('is not done, green as it is, where it finds no CRDs', async () => {
    cluster.manner.mode = 'no-crds';
    const stuck = await cluster.upgrade(...RUN, '--timeout', '60s');
    assert.equal(stuck.exitCode, 124, told(stuck));
    assert.match(stuck.stderr, /Degraded is True \(ResourceReadError: Unable retrieve Goldmane CR/);
    assert.equal(await cluster.read('tigerastatuses calico', STATUS('Available')), 'True', 'of the old generation');
  });

  it('has its failing pods named', async () => {
    await cluster.plane.fault('node-01', 'image-pull');
    cluster.manner.mode = 'pod-failure';
    await names(cluster, /failing pods: TigeraStatus\/calico: PodFailure/, '120s');
  });

  it('ends well once its pods start', async () => {
    await cluster.plane.fault('node-01', 'none');
    await endsWell(cluster);
  });
});

describe('an operator whose pods start at once, on a real control plane', () => {
  const cluster = shared(() => operatedCluster({ mode: 'forbidden', pace: 0.02 }, { readyAfterMs: 0 }));

  it('is upgraded by a run that hears no state and no release of a chart in Secrets of other namespaces', async () => {
    const told = await assertUnmoved(cluster, [...CALICO], ['kube-system', 'tigera-operator']);
    assert.match(told.status ?? '', /no run of this program is recorded/);
  });

  it('ends well without any progress to be seen, though the old one was Degraded at its end', () => endsWell(cluster));

  it('switches flow logs on when asked later, and the run waits through the second roll of the agents that they bring', async () => {
    assert.equal(await cluster.read('goldmanes.operator.tigera.io', '{.items[*].metadata.name}'), '', 'nothing unless asked');
    const generation = await cluster.read('ds -n calico-system calico-node', '{.metadata.generation}');
    assertSucceeded(await cluster.upgrade(...RUN, '--enable-flow-logs'));
    assert.equal(await cluster.read('deploy -n calico-system goldmane', '{.status.availableReplicas}'), '1');
    assert.notEqual(await cluster.read('ds -n calico-system calico-node', '{.metadata.generation}'), generation);
    const agents = await cluster.read('ds -n calico-system calico-node', '{.status.updatedNumberScheduled}/{.status.numberAvailable}');
    assert.equal(agents, '3/3');
  });
});

describe('an operator whose API server starts slowly, on a real control plane', () => {
  const cluster = shared(() => operatedCluster({ mode: 'well', pace: 0.1 }, { apiServer: true }));

  it('is waited for, after the release is reported, until the API is served from its new place and the old one is gone', async () => {
    await endsWell(cluster);
    assert.equal(await cluster.read('apiservice v3.projectcalico.org', '{.spec.service.namespace}'), 'calico-system');
    assert.equal(await cluster.read('apiservice v3.projectcalico.org', STATUS('Available')), 'True');
    assert.equal(await cluster.read('namespaces', '{.items[?(@.metadata.name=="calico-apiserver")].metadata.name}'), '');
  });
});
