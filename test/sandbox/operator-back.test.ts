import assert from 'node:assert/strict';
import { chains } from '../../src/features/chain.ts';
import { asked, writing } from '../../src/features/rights/index.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import { allowedBy, guardedCluster } from '../support/guarded-cluster.ts';
import type { HeldFleet } from '../support/held-fleet.ts';
import { definition, kindIn, put } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { ORDER, unheld } from '../support/operated-bench.ts';
import { back, FROM, forward, sourceFleet, upgradedFleet } from '../support/operator-back.ts';
import { assertDone, faultPoints, isRead, type LineFault, openFindings } from '../support/owner-faults.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { CALICO_TARGET } from '../support/target.ts';

const NODES = 6;
const AGENTS = 'DaemonSet/calico-system/calico-node';
const POLICY = { apiVersion: 'crd.projectcalico.org/v1', kind: 'GlobalNetworkPolicy' } as const;

const isWrite = (what: string): boolean => !isRead(what) && !/^(record|keep|append|watch)/.test(what);

function assertOld(fleet: HeldFleet, where: string, worst = 1): void {
  assert.deepEqual([fleet.runs(), fleet.marks()], [[FROM], []], where);
  assert.deepEqual([fleet.refused(), fleet.worst()], [0, worst], where);
}

/** As the controllers of the target have stored it. */
function addRenamed({ scenario }: HeldFleet): void {
  const annotations = { 'projectcalico.org/metadata': JSON.stringify({ name: 'web' }) };
  put(scenario.cluster, objectOf(POLICY.apiVersion, POLICY.kind, 'web', { metadata: { annotations }, spec: { selector: 'all()' } }));
}

const STATUS = { apiVersion: 'operator.tigera.io/v1', kind: 'TigeraStatus' } as const;
const { apiVersion } = POLICY;

function inTier(name: string, tier = 'calico-system'): KubeObject {
  return objectOf(apiVersion, 'NetworkPolicy', name, { metadata: { namespace: 'default' }, spec: { tier, selector: 'all()' } });
}

/** As the operator of the target makes them once the v3 API is there; and one of the user. */
function addGuards({ scenario: { cluster } }: HeldFleet): void {
  for (const name of ['apiserver-access', 'default-deny']) put(cluster, inTier(`calico-system.${name}`));
  put(cluster, inTier('web', 'default'));
  put(cluster, objectOf(apiVersion, 'Tier', 'calico-system', { spec: { order: 100 } }));
}

const storedIn = ({ scenario: { cluster } }: HeldFleet, kind: string): readonly string[] =>
  cluster.store
    .list(kindIn(cluster, { apiVersion, kind }))
    .map(({ metadata }) => metadata.name)
    .sort();

const policies = ({ scenario: { cluster } }: HeldFleet) => cluster.store.list(kindIn(cluster, POLICY)).map(({ metadata }) => metadata.name);

async function said({ scenario, profile }: HeldFleet, line: string) {
  const bench = sandboxCommand(scenario, profile);
  const exit = await bench.run(...line.split(' '), '--release', CALICO_TARGET);
  return { exit, text: bench.out() + bench.err() };
}

describe('going back under an operator, on the sandbox', function () {
  this.timeout(600_000);

  it('makes Typha old before any agent, one agent at a time; policies get their names; again, it writes nothing', async () => {
    const fleet = await upgradedFleet(NODES);
    addRenamed(fleet);
    const done: string[] = [];
    const { outcome } = await back(fleet, {
      observe: (event) => void (event.type === 'action-done' && done.push(event.action.id)),
    });
    assertDone(outcome, 'rollback');
    assertOld(fleet, 'rollback');
    assert.deepEqual(policies(fleet), ['default.web']);
    const order = [
      'stop-tigera-operator',
      'stop-calico-kube-controllers',
      'names',
      'hold-calico-node',
      'operator',
      'typha',
      'release-calico-node',
    ];
    assert.deepEqual(
      done.filter((id) => order.includes(id)),
      [...order, 'operator'],
      'the end is waited for as `operator` too',
    );
    const again = await back(fleet);
    assertDone(again.outcome, 'again');
    assert.deepEqual(again.requests.filter(isWrite), []);
  });

  it('stops with the agents held where eBPF mode is switched on for a node meanwhile', async () => {
    const fleet = await upgradedFleet(2);
    const { cluster } = fleet.scenario;
    const profile = { ...fleet.profile, ebpfTablesSince: 'v3.32.0' };
    const { outcome } = await back(fleet, {
      profile,
      observe(event) {
        if (event.type !== 'action-done' || event.action.id !== 'typha') return;
        put(cluster, objectOf(apiVersion, 'FelixConfiguration', 'node.node-01', { spec: { bpfEnabled: true } }));
      },
    });
    assert.ok(outcome);
    assert.equal(outcome.exit, 'blocked');
    assert.match(openFindings(outcome), /^NS-766 .*FelixConfiguration\/node\.node-01/);
    assert.deepEqual(fleet.runs().toSorted(), [FROM, CALICO_TARGET], 'Typha is old, the agents are not');
    assert.ok(fleet.marks().some((mark) => mark.startsWith('DaemonSet')));
  });

  it('asks no more of the account than each stage before the operator says', async () => {
    const fleet = await upgradedFleet(2);
    addRenamed(fleet);
    put(fleet.scenario.cluster, definition('operator.tigera.io', 'ImageSet', 'Cluster'));
    for (const id of ['rollback-stop', 'rollback-names']) {
      const stage = chains.rollback.find((one) => one.id === id);
      assert.ok(stage);
      const may = allowedBy(asked(writing(stage.needs), fleet.profile, { documents: [], meshed: false, operated: true }));
      let denied: ReadonlySet<string> = new Set();
      const guard = (cluster: Cluster) => {
        const guarded = guardedCluster(cluster, may);
        denied = guarded.denied;
        return guarded.cluster;
      };
      const { outcome } = await back(fleet, { stages: [stage], guard });
      assert.deepEqual([[...denied], outcome?.exit], [[], 'done'], id);
    }
  });

  it('removes what only the newer operator makes, what denies first, and nothing of the user’s', async () => {
    const fleet = await upgradedFleet(2);
    const names = (kind: string) => storedIn(fleet, kind);
    addGuards(fleet);
    const removed: string[] = [];
    const { outcome } = await back(fleet, {
      observe: (event) =>
        void (event.type === 'action-done' && event.action.effect.type === 'delete' && removed.push(event.action.effect.target.name)),
    });
    assertDone(outcome, 'rollback');
    assert.deepEqual(removed, ['tiers', 'calico-system.default-deny', 'calico-system.apiserver-access', 'calico-system']);
    assert.deepEqual([names('NetworkPolicy'), names('Tier')], [['web'], []]);
    assert.deepEqual(
      fleet.scenario.cluster.store
        .list(kindIn(fleet.scenario.cluster, STATUS))
        .map(({ metadata }) => metadata.name)
        .sort(),
      ['apiserver', 'calico', 'ippools'],
    );
    const other = await upgradedFleet(2);
    addGuards(other);
    put(other.scenario.cluster, inTier('calico-system.mine'));
    assertDone((await back(other)).outcome, 'with one of the user');
    assert.deepEqual([storedIn(other, 'NetworkPolicy'), storedIn(other, 'Tier')], [['calico-system.mine', 'web'], ['calico-system']]);
  });

  it('leaves the tier while a staged policy of the user is in it', async () => {
    const fleet = await upgradedFleet(2);
    const { cluster } = fleet.scenario;
    addGuards(fleet);
    put(cluster, definition('crd.projectcalico.org', 'StagedNetworkPolicy', 'Namespaced'));
    put(cluster, { ...inTier('calico-system.default-deny'), kind: 'StagedNetworkPolicy' });
    assertDone((await back(fleet)).outcome, 'rollback');
    assert.deepEqual(
      [storedIn(fleet, 'StagedNetworkPolicy'), storedIn(fleet, 'Tier')],
      [['calico-system.default-deny'], ['calico-system']],
    );
  });

  it('removes it as well after it was killed and went forward in between', async () => {
    const { requests } = await back(await upgradedFleet(2));
    const fleet = await upgradedFleet(2);
    addGuards(fleet);
    await back(fleet, { fault: { at: requests.indexOf('patch daemonsets/calico-node') + 1, type: 'kill-after' } });
    assertDone((await forward(fleet, { flags: { accept: ['NS-301', 'NS-012'] } })).outcome, 'forward');
    assertDone((await back(fleet)).outcome, 'back');
    assertOld(fleet, 'back');
    assert.deepEqual([storedIn(fleet, 'NetworkPolicy'), storedIn(fleet, 'Tier')], [['web'], []]);
  });

  it('does not start the older operator where images are pinned and there is no set of its release', async () => {
    const fleet = await upgradedFleet(2);
    const { cluster } = fleet.scenario;
    put(cluster, definition('operator.tigera.io', 'ImageSet'));
    put(cluster, objectOf(STATUS.apiVersion, 'ImageSet', `calico-${CALICO_TARGET}`, { spec: { images: [] } }));
    const refused = await back(fleet);
    assert.equal(refused.outcome?.exit, 'blocked');
    assert.match(openFindings(refused.outcome), /NS-622 images are pinned by an image set, and there is none of v3\.31\.7/);
    assert.deepEqual([fleet.marks(), refused.requests.filter((what) => what.startsWith('kubectl apply'))], [[], []]);
    put(cluster, objectOf(STATUS.apiVersion, 'ImageSet', `calico-${FROM}`, { spec: { images: [] } }));
    assertDone((await back(fleet)).outcome, 'with its own');
  });

  it('writes nothing a second time where the image set of the older release pins the controllers by digest', async () => {
    const fleet = await upgradedFleet(2);
    const { cluster } = fleet.scenario;
    const digest = `sha256:${'a'.repeat(64)}`;
    put(cluster, definition('operator.tigera.io', 'ImageSet'));
    for (const release of [FROM, CALICO_TARGET])
      put(cluster, objectOf(STATUS.apiVersion, 'ImageSet', `calico-${release}`, { spec: { images: [] } }));
    assertDone((await back(fleet)).outcome, 'by tags');
    const images = [{ image: 'calico/kube-controllers', digest }];
    const sets = kindIn(cluster, { apiVersion: STATUS.apiVersion, kind: 'ImageSet' });
    const own = cluster.store.get(sets, `calico-${FROM}`) ?? assert.fail('no image set');
    cluster.store.update(sets, { ...own, spec: { images } });
    const live = cluster.store.get(K.Deployment, 'calico-kube-controllers', 'calico-system') ?? assert.fail('no controllers');
    const spec = JSON.parse(JSON.stringify(live.spec).replace(`kube-controllers:${FROM}`, `kube-controllers@${digest}`)) as object;
    assert.match(JSON.stringify(spec), /@sha256/);
    cluster.store.update(K.Deployment, { ...live, spec });
    const again = await back(fleet);
    assertDone(again.outcome, 'again');
    assert.deepEqual(again.requests.filter(isWrite), []);
    addRenamed(fleet);
    assertDone((await back(fleet)).outcome, 'with a policy that the newer API server has stored meanwhile');
    assert.deepEqual(policies(fleet), ['default.web']);
  });

  it('does not wait for the end of older controllers that an operator starts meanwhile', async () => {
    const fleet = await upgradedFleet(2);
    const { store } = fleet.scenario.cluster;
    const { outcome } = await back(fleet, {
      observe(event) {
        if (event.type !== 'action-done' || event.action.id !== 'stop-calico-kube-controllers') return;
        const live = store.get(K.Deployment, 'calico-kube-controllers', 'calico-system') ?? assert.fail('no controllers');
        const spec = JSON.parse(JSON.stringify(live.spec).replaceAll(`:${CALICO_TARGET}`, `:${FROM}`)) as object;
        store.update(K.Deployment, { ...live, spec: { ...spec, replicas: 1 } });
      },
    });
    assertDone(outcome, 'rollback');
    assertOld(fleet, 'rollback');
  });

  it('holds again what somebody has half released', async () => {
    const { requests } = await back(await upgradedFleet(2));
    const fleet = await upgradedFleet(2);
    await back(fleet, { fault: { at: requests.indexOf('patch daemonsets/calico-node') + 1, type: 'kill-after' } });
    const { store } = fleet.scenario.cluster;
    const set = store.get(K.DaemonSet, 'calico-node', 'calico-system') ?? assert.fail('no agents');
    const annotations = Object.fromEntries(Object.entries(set.metadata.annotations ?? {}).filter(([key]) => !key.endsWith('/ignore')));
    store.update(K.DaemonSet, { ...set, metadata: { ...set.metadata, annotations } });
    assertDone((await back(fleet)).outcome, 'rollback');
    assertOld(fleet, 'rollback');
  });

  it('has agents that Typha refuses where nothing keeps the operator from them', async () => {
    const fleet = await upgradedFleet(NODES);
    const { outcome } = await back(fleet, { profile: unheld, flags: { accept: ['NS-301', 'NS-765', `${ORDER}=${AGENTS}`] } });
    assertDone(outcome, 'rollback');
    assert.ok(fleet.refused() > 0);
    const refused = await back(await upgradedFleet(NODES), { profile: unheld });
    assert.equal(refused.outcome?.exit, 'blocked');
  });

  it('is resumed by the same command, wherever it was killed: at every write', async () => {
    const { requests } = await back(await upgradedFleet(2));
    const kills = faultPoints(requests).filter(
      ({ at, type }) => (type === 'kill-before' || type === 'kill-after') && !isRead(requests[at - 1] ?? ''),
    );
    assert.ok(kills.length > 30, requests.join('\n'));
    for (const fault of kills) await trial(fault, requests[fault.at - 1] ?? '');
  });

  it('goes back from wherever the upgrade was killed, with nothing held: Typha is released too', async () => {
    const { requests } = await forward(await sourceFleet(2));
    const writes = requests.flatMap((what, index) => (/^(patch|kubectl)/.test(what) ? [index + 1] : []));
    const held = writes.slice(writes.indexOf(requests.indexOf('patch deployments/calico-typha') + 1));
    assert.ok(held.length > 2, requests.join('\n'));
    for (const at of held) {
      const where = `kill-after ${at}: ${requests[at - 1]}`;
      const fleet = await sourceFleet(2);
      await forward(fleet, { fault: { at, type: 'kill-after' } });
      assertDone((await back(fleet)).outcome, where);
      assert.ok(
        fleet.worst() <= 2,
        'one more than at a time: until the operator changes the released DaemonSet, an old agent may become new',
      );
      assertOld(fleet, where, fleet.worst());
    }
  });

  it('goes forward again on the user’s word, with nothing held', async () => {
    const { requests } = await back(await upgradedFleet(2));
    const at = requests.indexOf('patch daemonsets/calico-node');
    assert.ok(at > 0, requests.join('\n'));
    const fleet = await upgradedFleet(2);
    await back(fleet, { fault: { at: at + 1, type: 'kill-after' } });
    assert.ok(fleet.marks().length > 0, 'it was held');
    const { outcome } = await forward(fleet, { flags: { accept: ['NS-301', 'NS-012'] } });
    assertDone(outcome, 'forward');
    assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []]);
    assert.ok(fleet.worst() <= 1);
  });

  it('what it has left held is named by status and verify, and released by apply --undo', async () => {
    const fleet = await upgradedFleet(2);
    const { requests } = await back(await upgradedFleet(2));
    await back(fleet, { fault: { at: requests.indexOf('patch daemonsets/calico-node') + 1, type: 'kill-after' } });
    const status = await said(fleet, 'status');
    assert.match(
      status.text,
      new RegExp(`^held: ${AGENTS} by run \\S+: the operator does not change it\\. Resume that run: kubectl netsvc-upgrade rollback`, 'm'),
    );
    const verified = await said(fleet, 'verify');
    assert.match(verified.text, new RegExp(`× NS-313 .*\\n(?: {4}.*\\n)*? {4}- ${AGENTS}: `), verified.text);
    const early = await said(fleet, 'apply --undo --yes');
    assert.deepEqual([early.exit, fleet.marks().length], [3, 2], early.text);
    assert.match(early.text, /then {4}finish it first: kubectl netsvc-upgrade rollback/);
    delete fleet.scenario.state.record;
    const lost = await said(fleet, 'status');
    assert.match(
      lost.text,
      /the operator does not change it\. Resume that run. Once every agent is new, this removes only the hold: kubectl netsvc-upgrade apply --undo/,
    );
    const undone = await said(fleet, 'apply --undo --yes');
    assert.deepEqual([undone.exit, fleet.marks()], [0, []], undone.text);
    const set = fleet.scenario.cluster.store.get(K.DaemonSet, 'calico-node', 'calico-system');
    assert.match(JSON.stringify(set?.spec), /"updateStrategy":\{"type":"RollingUpdate"/);
  });
});

async function trial(fault: LineFault, what: string): Promise<void> {
  const where = `${fault.type} ${fault.at}: ${what}`;
  const fleet = await upgradedFleet(2);
  addRenamed(fleet);
  await back(fleet, { fault });
  const { outcome } = await back(fleet);
  assertDone(outcome, where);
  assertOld(fleet, where);
}
