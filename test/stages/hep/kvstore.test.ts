import assert from 'node:assert/strict';
import type { Action } from '../../../src/core/action.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { KubeObject } from '../../../src/core/object.ts';
import type { KeptItem, Sources } from '../../../src/core/ports.ts';
import { hepStage } from '../../../src/stages/hep.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { standInCli } from '../../support/stand-in-cli.ts';
import { type StandInState, standInState } from '../../support/stand-in-cli-state.ts';

const CONFIG = '/etc/calico/calicoctl.cfg';
const agents = object('apps/v1', 'DaemonSet/kube-system/calico-node', {
  spec: {
    template: {
      spec: {
        containers: [
          { name: 'calico-node', image: 'quay.io/calico/node:v3.32.1', env: [{ name: 'ETCD_ENDPOINTS', value: 'https://store:2379' }] },
        ],
      },
    },
  },
});
const node = (name: string) => object('v1', `Node/${name}`, { metadata: { uid: `uid-${name}`, labels: { zone: 'a' } } });

/** A key-value installation whose resources only the stand-in CLI shows. */
async function open(
  state: StandInState,
  config: string | null = 'spec:\n  datastoreType: "etcdv3"\n  etcdEndpoints: "https://store:2379"\n',
  kept?: readonly KeptItem[],
) {
  const { cluster } = clusterOf([agents, node('n1'), node('n2')]);
  const sources = {
    cluster,
    files: { exists: async (path: string) => path === CONFIG && config !== null, readText: async () => config ?? '' },
    tools: {
      which: async (program: string) => (program === 'calicoctl' ? ['/bin/calicoctl'] : []),
      run: async ({ args }: { readonly args: readonly string[] }) => {
        const plain = args.filter((argument) => !argument.startsWith('--config'));
        const { out = '', err = '', exit } = standInCli(plain, { DATASTORE_TYPE: 'etcdv3', ETCD_ENDPOINTS: 'https://store:2379' }, state);
        return { exitCode: exit === 'hang' ? undefined : exit, stdout: out, stderr: err, durationMs: 1 };
      },
    },
    artifacts: {
      has: async () => false,
      fetch: async () => {
        throw new Fault('failed', 'no artifacts in this test', []);
      },
    },
    records: { keptWith: async () => kept ?? [] },
    clock: { now: () => new Date(0) },
  } as unknown as Sources;
  return hepStage.open(sources, contextOf({ path: 'kvstore', variant: 'calico-etcd', ...(kept ? { undo: true } : {}) }));
}

function stateOf(objects: StandInState['etcdv3']['objects']): StandInState {
  return standInState({ etcdv3: { reachable: true, clusterInformation: { version: 'v3.32.1' }, objects } });
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
    assert.deepEqual(enable?.type === 'exec' ? [enable.program, enable.run.args.at(-1)] : [], ['/bin/calicoctl', `--config=${CONFIG}`]);
    assert.ok(wait?.type === 'wait' && wait.until.type === 'host-endpoints' && 'cli' in wait.until.from);
    assert.deepEqual(remove?.type === 'exec' ? remove.run.args.slice(0, 3) : [], ['delete', 'hostendpoint', 'old']);
  });

  it('keeps the endpoint as the CLI showed it', async () => {
    const kept = (await planned(unmigrated())).at(-1)?.keep as { readonly endpoints: readonly KubeObject[] };
    assert.deepEqual(kept.endpoints[0]?.metadata.labels, { role: 'x' });
  });

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

  it('takes nothing back without the CLI’s configuration: what is there could not be told', async () => {
    const kept = [{ id: 'r1/hep/enable#1', content: { configuration: { name: 'default', spec: {} } } }];
    assert.equal((await open(unmigrated(), null, kept)).findings().find(({ id }) => id === 'NS-720')?.outcome, 'error');
    assert.equal((await open(unmigrated(), null, [])).findings().find(({ id }) => id === 'NS-720')?.outcome, 'not-applicable');
  });
});
