import assert from 'node:assert/strict';
import { hepStage } from '../../../src/features/hosts/stage.ts';
import { assertSuccessor } from '../../../src/features/hosts/successor-stands.ts';
import type { Action } from '../../../src/kernel/action.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import { Outdated } from '../../../src/kernel/fault.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { KeptItem } from '../../../src/kernel/run-record.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { keptItem, labelled, removed, switched } from '../../support/hep-kept.ts';
import { CLI_CONFIG, kvstoreSources } from '../../support/kvstore-sources.ts';
import { ofRelease, type StandInState, standInState } from '../../support/stand-in-cli-state.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const patched = { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:zone': {} } } } };
const node = (name: string) =>
  object('v1', `Node/${name}`, { metadata: { uid: `uid-${name}`, labels: { zone: 'a' }, managedFields: [patched] } });

async function open(state: StandInState, config?: string | null, kept?: readonly KeptItem[]) {
  const parts = { objects: [node('n1'), node('n2')], ...(kept ? { kept } : {}), ...(config === undefined ? {} : { config }) };
  const context = contextOf({ path: 'kvstore', variant: 'calico-etcd' });
  return (kept ? (hepStage.undo ?? assert.fail()) : hepStage).open(kvstoreSources(state, parts), context);
}

function stateOf(objects: StandInState['etcdv3']['objects']): StandInState {
  return standInState({ etcdv3: ofRelease(CALICO_TARGET, objects) });
}

const endpoint = (nodeName: string, labels = {}) => ({ metadata: { name: 'old', labels }, spec: { node: nodeName, interfaceName: '*' } });
const SETTINGS = { default: { metadata: { name: 'default' }, spec: { controllers: { node: { syncLabels: 'Enabled' } } } } };

async function planned(state: StandInState): Promise<readonly Action[]> {
  const plan = (await open(state)).plan();
  assert.ok(!('skip' in plan), JSON.stringify(plan));
  return plan.actions;
}

describe('hep with a key-value datastore', () => {
  const unmigrated = () =>
    stateOf({
      HostEndpoint: { old: endpoint('n1', { role: 'x' }) },
      GlobalNetworkPolicy: {},
      Tier: {},
      Profile: {},
      KubeControllersConfiguration: SETTINGS,
    });

  it('reads, enables, waits and deletes through the CLI with its own configuration, and labels nodes through the API', async () => {
    const actions = await planned(unmigrated());
    assert.deepEqual(
      actions.map(({ id }) => id),
      ['labels', 'enable', 'endpoints', 'delete-1'],
    );
    const [labels, enable, wait, remove] = actions.map(({ effect }) => effect);
    assert.deepEqual(labels?.type === 'patch-all' ? labels.patches.map(({ target }) => target.name) : [], ['n1']);
    assert.deepEqual(enable?.type === 'exec' ? [enable.program, enable.run.args.at(-1)] : [], ['/bin/calicoctl', `--config=${CLI_CONFIG}`]);
    assert.ok(wait?.type === 'wait' && wait.until.type === 'host-endpoints' && 'cli' in wait.until.from);
    assert.deepEqual(remove?.type === 'exec' ? remove.run.args.slice(0, 3) : [], ['delete', 'hostendpoint', 'old']);
  });

  it('judges by the labels of the service’s own nodes, whatever they are called, and labels the nodes of Kubernetes', async () => {
    const state = unmigrated();
    const synced = JSON.stringify({ zone: 'a', gone: '1' });
    const own = {
      metadata: { name: 'host-1', labels: { zone: 'a', gone: '1', rack: 'a' }, annotations: { 'projectcalico.org/kube-labels': synced } },
      spec: { orchRefs: [{ nodeName: 'n1', orchestrator: 'k8s' }] },
    };
    const selects = (selector: string) => ({ spec: { selector, types: ['Ingress'], ingress: [{ action: 'Deny' }] } });
    state.etcdv3.objects.Node = { 'host-1': own, n2: { metadata: { name: 'n2', labels: { rack: 'b' } } } };
    state.etcdv3.objects.HostEndpoint = { old: endpoint('host-1', { role: 'x' }) };
    state.etcdv3.objects.GlobalNetworkPolicy = {
      racks: selects('rack in {"a", "b"}'),
      // The controllers take it off with the label of the Kubernetes node.
      stale: selects('has(gone)'),
    };
    const opened = await open(state);
    const anew = opened.findings().find(({ id }) => id === 'NS-712');
    assert.deepEqual(
      anew?.evidence?.map(({ text, detail }) => [text, detail]),
      [['n2', 'as soon as enabled: ingress: now allow; afterwards policy racks, else deny']],
    );
    const plan = opened.plan();
    assert.ok(!('skip' in plan), JSON.stringify(plan));
    assert.deepEqual(
      plan.hosts?.map(({ node, verdict }) => [node, verdict]),
      [
        ['host-1', 'OPEN'],
        ['n2', 'NEWLY POLICED'],
      ],
    );
    const labels = plan.actions.find(({ id }) => id === 'labels')?.effect;
    assert.deepEqual(labels?.type === 'patch-all' ? labels.patches.map(({ target }) => target.name) : [], ['n1']);
    const wait = plan.actions.find(({ id }) => id === 'endpoints')?.effect;
    assert.deepEqual(wait?.type === 'wait' && wait.until.type === 'host-endpoints' ? wait.until.nodes : [], [
      { node: 'host-1', labels: { rack: 'a', zone: 'a', role: 'x' } },
      { node: 'n2', labels: { rack: 'b', zone: 'a' } },
    ]);
  });

  it('keeps the endpoint as the CLI showed it', async () => {
    const kept = (await planned(unmigrated())).at(-1)?.keep;
    assert.deepEqual((kept?.changes[0]?.before[''] as KubeObject | undefined)?.metadata.labels, { role: 'x' });
  });

  for (const generation of ['old', 'new'] as const) {
    it(`asks the CLI (${generation}) by name right before a removal, and stops where what was judged is gone`, async () => {
      const enabled = { metadata: { name: 'default' }, spec: { controllers: { node: { hostEndpoint: { autoCreate: 'Enabled' } } } } };
      const { createdBy, createdByValue } = calico.labels;
      const spec = { node: 'n1', interfaceName: '*', expectedIPs: ['10.0.0.1'] };
      const standing = { metadata: { name: 'n1-auto-hep', labels: { zone: 'a', role: 'x', [createdBy]: createdByValue } }, spec };
      const endpoints = { old: endpoint('n1', { role: 'x' }), 'n1-auto-hep': standing };
      const objects = { HostEndpoint: endpoints, GlobalNetworkPolicy: {}, Tier: {}, Profile: {}, KubeControllersConfiguration: SETTINGS };
      const state = { ...stateOf(objects), generation, client: CALICO_TARGET };
      const effect = (await planned(state)).at(-1)?.effect;
      assert.ok(effect?.type === 'exec' && effect.onlyIf?.type === 'successor');
      const { onlyIf } = effect;
      const { cluster, tools } = kvstoreSources(state) as unknown as EnginePorts;
      const isOutdated = (words: RegExp) => (thrown: unknown) => thrown instanceof Outdated && words.test(thrown.message);
      await assert.rejects(assertSuccessor({ cluster, tools }, onlyIf), isOutdated(/does not ask for automatic/));
      state.etcdv3.objects.KubeControllersConfiguration = { default: enabled };
      await assertSuccessor({ cluster, tools }, onlyIf);
      state.etcdv3.objects.HostEndpoint = { 'n1-auto-hep': standing };
      await assert.rejects(assertSuccessor({ cluster, tools }, onlyIf), isOutdated(/^the host endpoint old is gone$/));
      state.etcdv3.objects.HostEndpoint = { old: endpoint('n1', { role: 'x' }) };
      await assert.rejects(assertSuccessor({ cluster, tools }, onlyIf), isOutdated(/^n1: no automatic endpoint yet$/));
    });
  }

  it('refuses where nodes’ labels do not reach the datastore', async () => {
    const state = unmigrated();
    state.etcdv3.objects.KubeControllersConfiguration = {
      default: { metadata: { name: 'default' }, spec: { controllers: { node: { syncLabels: 'Disabled' } } } },
    };
    const found = (await open(state)).findings().find(({ id }) => id === 'NS-715');
    assert.equal(found?.outcome, 'error');
    assert.match(`${found?.message}`, /syncLabels/);
  });

  it('refuses without the CLI’s configuration: only that file knows the endpoints of the store', async () => {
    const found = (await open(unmigrated(), null)).findings();
    assert.equal(found.find(({ id }) => id === 'NS-720')?.outcome, 'error');
  });

  it('takes back by the CLI, and looks by it right before at the old endpoints that are to stand and at the setting', async () => {
    const state = unmigrated();
    const spec = { controllers: { node: { hostEndpoint: { autoCreate: 'Enabled' } } } };
    state.etcdv3.objects.KubeControllersConfiguration = { default: { metadata: { name: 'default' }, spec } };
    const removal = (number: number, name: string, done: boolean): KeptItem => {
      const endpoint = object('projectcalico.org/v3', `HostEndpoint/${name}`, { spec: { node: 'n1', interfaceName: '*' } });
      return keptItem(`r1/hep/delete-${number}#${number + 2}`, removed(endpoint), { done });
    };
    const kept = [
      keptItem(
        'r1/hep/labels#1',
        labelled({ zone: 'a' }, ['n1'], (name) => `uid-${name}`),
      ),
      keptItem('r1/hep/enable#2', switched('Enabled')),
      removal(1, 'old', true),
      removal(2, 'ours', true),
      removal(3, 'of-somebody-else', false),
    ];
    const plan = (await open(state, undefined, kept)).plan();
    assert.ok(!('skip' in plan), JSON.stringify(plan));
    assert.deepEqual(
      plan.actions.map(({ id }) => id),
      ['recreate-1', 'disable', 'unlabel'],
    );
    const looks = plan.actions.map(({ effect }) =>
      (effect.type === 'exec' || effect.type === 'patch-all') && effect.onlyIf?.type === 'way-back' ? effect.onlyIf : undefined,
    );
    assert.deepEqual(
      looks.map((one) => one && [one.standing, one.off, 'cli' in one.from]),
      [undefined, [['old', 'ours'], undefined, true], [undefined, true, true]],
    );
  });

  it('takes nothing back without the CLI’s configuration: what is there could not be told', async () => {
    const kept = [keptItem('r1/hep/enable#1', switched('Enabled'))];
    assert.equal((await open(unmigrated(), null, kept)).findings().find(({ id }) => id === 'NS-720')?.outcome, 'error');
    assert.equal((await open(unmigrated(), null, [])).findings().find(({ id }) => id === 'NS-720')?.outcome, 'not-applicable');
  });
});
