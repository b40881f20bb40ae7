import assert from 'node:assert/strict';
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import { startKeyValueStore } from '../control-plane/kvstore.ts';
import { until } from '../control-plane/until.ts';
import { shared } from '../support/installed-cluster.ts';
import { cliConfiguration, type KvstoreCluster, kvstoreCluster } from '../support/kvstore-cluster.ts';
import { patient } from '../support/patience.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

/** Where the service keeps its objects in the store (cli notes 4). */
const RESOURCES = '/calico/resources/v3/projectcalico.org/';
const ENDPOINTS = `${RESOURCES}hostendpoints/`;
const SETTINGS = `${RESOURCES}kubecontrollersconfigurations/default`;
const [CREATED_BY, VALUE] = ['projectcalico.org/created-by', 'calico-kube-controllers'];
const EVERY_MS = 250;

interface Node {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/**
 * The controllers as far as the store shows them: by their setting every node has its endpoint with the node's labels, or none has; theirs
 * they know by the label alone (host endpoint notes 6). Without their restarts and pauses, which the tests with the API play.
 */
function playStoreControllers(cluster: Pick<KvstoreCluster, 'store' | 'plane'>): { stop(): Promise<void> } {
  const end = new AbortController();
  const running = (async () => {
    while (!end.signal.aborted) {
      await sync(cluster);
      await pause(EVERY_MS);
    }
  })();
  return {
    async stop() {
      end.abort();
      await running;
    },
  };
}

async function sync({ store, plane }: Pick<KvstoreCluster, 'store' | 'plane'>): Promise<void> {
  const settings = JSON.parse((await store.get(SETTINGS)) ?? '{}') as {
    readonly spec?: { readonly controllers?: { readonly node?: { readonly hostEndpoint?: { readonly autoCreate?: string } } } };
  };
  const isOn = settings.spec?.controllers?.node?.hostEndpoint?.autoCreate === 'Enabled';
  const stored = await store.list(ENDPOINTS);
  if (!isOn) {
    for (const [key, text] of stored) if (JSON.parse(text).metadata.labels?.[CREATED_BY] === VALUE) await store.remove(key);
    return;
  }
  const { items } = JSON.parse((await plane.kubectl(['get', 'nodes', '-o', 'json'])).stdout) as { readonly items: readonly Node[] };
  for (const node of items) {
    const wanted = JSON.stringify(endpointOf(node));
    const key = `${ENDPOINTS}${node.metadata.name}-auto-hep`;
    if (stored.get(key) !== wanted) await store.put(key, wanted);
  }
}

function endpointOf({ metadata: { name, labels } }: Node): object {
  return {
    kind: 'HostEndpoint',
    apiVersion: 'projectcalico.org/v3',
    metadata: { name: `${name}-auto-hep`, labels: { ...labels, [CREATED_BY]: VALUE } },
    spec: { node: name, interfaceName: '*', expectedIPs: ['10.0.0.1'], profiles: ['projectcalico-default-allow'] },
  };
}

/** On the target release already; everything of the service is in a real store, which only its CLI (the stand-in) reads and writes. */
describe('hep and policy with a real key-value store', () => {
  let controllers: { stop(): Promise<void> } | undefined;
  after(() => controllers?.stop());
  const cluster = shared(() => kvstoreCluster(CALICO_TARGET, 'calico-etcd.yaml'));
  let start: unknown;

  const put = (plural: string, key: string, kind: string, spec: object, labels: object = {}) =>
    cluster.store.put(
      `${RESOURCES}${plural}/${key}`,
      JSON.stringify({ kind, apiVersion: 'projectcalico.org/v3', metadata: { name: key.replace(/^default\./, ''), labels }, spec }),
    );
  const names = async (plural: string) =>
    [...(await cluster.store.list(`${RESOURCES}${plural}/`)).keys()].map((key) => key.slice(RESOURCES.length + plural.length + 1));

  /** Labels, annotations and spec; of the setting that is off, whether it was ever on is not said. */
  async function state(): Promise<unknown> {
    const endpoints = [...(await cluster.store.list(`${RESOURCES}hostendpoints/`))].map(([key, text]) => {
      const { metadata, spec } = JSON.parse(text);
      return [key, metadata.labels ?? {}, metadata.annotations ?? {}, spec];
    });
    const nodes = JSON.parse((await cluster.plane.kubectl(['get', 'nodes', '-o', 'json'])).stdout).items as readonly {
      readonly metadata: { readonly name: string; readonly labels: object };
    }[];
    return { endpoints, nodes: nodes.map(({ metadata }) => [metadata.name, metadata.labels]) };
  }

  const autoCreate = async (): Promise<string | undefined> => {
    const text = await cluster.store.get(`${RESOURCES}kubecontrollersconfigurations/default`);
    return JSON.parse(text ?? '{}').spec?.controllers?.node?.hostEndpoint?.autoCreate;
  };

  before(async () => {
    // The controllers of Kubernetes label nodes by themselves, a while after they were made: what is compared later must be at rest.
    await until('every node has the labels of the controllers', async () =>
      JSON.parse((await cluster.plane.kubectl(['get', 'nodes', '-o', 'json'])).stdout).items.every(
        ({ metadata }: { metadata: { labels?: Record<string, string> } }) => metadata.labels?.['beta.kubernetes.io/os'] !== undefined,
      ),
    );
    await put('kubecontrollersconfigurations', 'default', 'KubeControllersConfiguration', {
      controllers: { node: { syncLabels: 'Enabled' } },
    });
    const some = [{ action: 'Allow', protocol: 'TCP' }];
    const hosts = { selector: 'role == "host"', types: ['Ingress', 'Egress'], ingress: some, egress: some };
    await put('globalnetworkpolicies', 'hosts', 'GlobalNetworkPolicy', hosts);
    for (const index of [1, 2]) {
      const spec = { node: `node-0${index}`, interfaceName: '*', expectedIPs: ['10.0.0.1'] };
      await put('hostendpoints', `old-${index}`, 'HostEndpoint', spec, { role: 'host' });
    }
    controllers = playStoreControllers(cluster);
    start = await state();
  });

  it('cli writes how its program reaches the store, for its owner’s eyes only, and verify calls it by that file', async () => {
    const file = join(cluster.around.home, 'written.cfg');
    const result = await cluster.upgrade('cli', '--yes', '--cli-config', file);
    assertSucceeded(result);
    for (const suffix of ['', '.etcd-ca', '.etcd-cert', '.etcd-key'])
      assert.equal((await stat(`${file}${suffix}`)).mode & 0o777, 0o600, suffix);
    assert.doesNotMatch(told(result), /BEGIN/);
    const [folder = ''] = (cluster.around.env?.PATH ?? '').split(delimiter);
    const answer = await execa(join(folder, 'calicoctl'), ['get', 'globalnetworkpolicies', `--config=${file}`], {
      timeout: patient(30_000),
    });
    assert.match(answer.stdout, /hosts/);
    const again = await cluster.upgrade('cli', '--yes', '--cli-config', file, '-o', 'json');
    assertSucceeded(again);
    assert.equal(JSON.parse(again.stdout).writes, 0);
  });

  it('nothing touches the store of another installation, though the CLI’s configuration leads there', async () => {
    const folder = await mkdtemp(join(cluster.around.home, 'other-store-'));
    const other = await startKeyValueStore();
    try {
      const all = await cluster.store.list('/calico/');
      for (const [key, value] of all) await other.put(key, value.replace(/"clusterGUID":"\w+"/, '"clusterGUID":"another"'));
      await other.put(`${RESOURCES}globalnetworkpolicies/allow-all-upgrade`, all.get(`${RESOURCES}globalnetworkpolicies/hosts`) ?? '');
      const file = join(folder, 'other.cfg');
      await writeFile(file, await cliConfiguration(folder, other));
      const before = await other.list('/calico/');
      for (const args of [['hep'], ['policy', '--delete=allow-all-upgrade']]) {
        const result = await cluster.upgrade(...args, '--yes', '--cli-config', file, '--accept', 'NS-725=another');
        assert.equal(result.exitCode, 3, told(result));
        assert.match(
          result.stdout,
          /NS-725 .*other\.cfg leads to another store: its clusterGUID is another, the installation’s is \w+/,
          told(result),
        );
      }
      assert.deepEqual(await other.list('/calico/'), before);
    } finally {
      await other.stop();
    }
    assert.deepEqual(await state(), start);
  });

  it('hep enables automatic endpoints, waits for each with its labels, and deletes the old ones', async () => {
    assertSucceeded(await cluster.upgrade('hep', '--yes'));
    assert.equal(await autoCreate(), 'Enabled');
    assert.deepEqual(await names('hostendpoints'), ['node-01-auto-hep', 'node-02-auto-hep', 'node-03-auto-hep']);
    const { metadata } = JSON.parse((await cluster.store.get(`${RESOURCES}hostendpoints/node-01-auto-hep`)) ?? '{}');
    assert.equal(metadata.labels.role, 'host');
  });

  it('hep has nothing to do the second time', async () => {
    const result = await cluster.upgrade('hep', '--yes');
    assertSucceeded(result);
    assert.match(result.stdout + result.stderr, /no old one is left/);
  });

  it('hep takes everything back, object by object', async () => {
    assertSucceeded(await cluster.upgrade('hep', '--undo', '--yes'));
    assert.equal(await autoCreate(), 'Disabled');
    await until('the controllers deleted theirs', async () => (await names('hostendpoints')).every((name) => name.startsWith('old-')));
    assert.deepEqual(await state(), start);
  });

  let restoredBy = '';
  const temporary = {
    order: 1,
    selector: 'all()',
    types: ['Ingress', 'Egress'],
    ingress: [{ action: 'Allow' }],
    egress: [{ action: 'Allow' }],
  };

  it('policy deletes the temporary policy, told by its name, wherever an older client stored it', async () => {
    await put('globalnetworkpolicies', 'default.allow-all-upgrade', 'GlobalNetworkPolicy', temporary);
    const asked = await cluster.upgrade('policy', '--dry-run=client');
    assert.match(asked.stdout, /allow-all-upgrade/, told(asked));
    const deleted = await cluster.upgrade('policy', '--delete=allow-all-upgrade', '--yes');
    assertSucceeded(deleted);
    assert.deepEqual(await names('globalnetworkpolicies'), ['hosts']);
    restoredBy = /to create it again: (.+)/.exec(told(deleted))?.[1] ?? assert.fail(told(deleted));
  });

  it('and the command that the end says creates it as it was, under the name by which the CLI of the target stores it', async () => {
    const [program = '', ...args] = restoredBy.trim().split(' ');
    await execa(program, args, { timeout: patient(30_000) });
    assert.deepEqual(await names('globalnetworkpolicies'), ['allow-all-upgrade', 'hosts']);
    const { spec } = JSON.parse((await cluster.store.get(`${RESOURCES}globalnetworkpolicies/allow-all-upgrade`)) ?? '{}');
    // Newer CLIs write down the tier that is meant where none is given.
    assert.deepEqual({ tier: 'default', ...spec }, { tier: 'default', ...temporary });
  });
});
