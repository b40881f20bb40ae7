import assert from 'node:assert/strict';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import { crdsStage } from '../../../src/features/install/around.ts';
import { detect } from '../../../src/features/survey/detect.ts';
import { crdFact, type Inventory, readInventory } from '../../../src/features/survey/inventory.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { refText } from '../../../src/kernel/object.ts';
import type { ClusterReader, ListOptions, Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { object } from '../../fixtures/facts.ts';
import { inventoryOf, workloadOf } from '../../support/inventory.ts';
import { operatedBench } from '../../support/operated-bench.ts';

const OPERATOR = 'operator.tigera.io/v1';
const since = { deletionTimestamp: '2026-05-04T08:10:00Z', finalizers: ['tigera.io/operator-cleanup'] };
const ofManifest = [
  workloadOf('DaemonSet', 'calico-node', { images: { 'calico-node': 'calico/node:v3.27.5', 'init:install-cni': 'calico/cni:v3.27.5' } }),
];
const ofOperator = [
  workloadOf('DaemonSet', 'calico-node', { namespace: 'calico-system', images: { 'calico-node': 'calico/node:v3.27.5' } }),
];
const installation = (metadata = {}) =>
  object(OPERATOR, 'Installation/default', { metadata, spec: {}, status: { calicoVersion: 'v3.27.5' } });
const byOperator = { daemonSets: { value: ofOperator }, installations: { value: [installation()] } };
const byManifest = { daemonSets: { value: ofManifest } };

function found(parts: Partial<Inventory>) {
  const detection = detect(inventoryOf(parts), calico, { variant: 'installations' in parts ? undefined : 'calico', path: undefined });
  return detection.type === 'found' ? detection.installation : assert.fail(JSON.stringify(detection));
}
const unfinished = (parts: Partial<Inventory>) => found(parts).unfinished.map(({ ref, detail }) => `${refText(ref)}: ${detail}`);
const deletions = (parts: Partial<Inventory>) => found(parts).deletions.map(({ ref, detail }) => `${refText(ref)}: ${detail}`);
const information = (spec: object) => ({ value: object('crd.projectcalico.org/v1', 'ClusterInformation/default', { spec }) });
const node = (name: string, labels: Readonly<Record<string, string>> = {}) => object('v1', `Node/${name}`, { metadata: { labels } });
const NETWORK = 'projectcalico.org/node-network-during-migration';
const WORKING = 'projectcalico.org/node-flannel-migration-in-progress';
const flannel = object('v1', 'ConfigMap/kube-system/flannel-migration-config', { data: {} });
const migration = (status: object, metadata = {}) =>
  object('migration.projectcalico.org/v1beta1', 'DatastoreMigration/v1-to-v3', { metadata, status });
const cni = (plugin: string) =>
  object('v1', 'ConfigMap/kube-system/calico-config', {
    data: {
      cni_network_config: `{"plugins":[{"type":"calico","mtu": __CNI_MTU__,"ipam": {\n "type": "${plugin}"},"policy":{"type":"k8s"}}]}`,
    },
  });
const moving = (container: string) => ({
  daemonSets: {
    value: [
      workloadOf('DaemonSet', 'calico-node', {
        images: { [`init:${container}`]: 'c', 'init:install-cni': 'c', 'calico-node': 'calico/node:v3.27.5' },
      }),
    ],
  },
});

describe('what somebody is deleting', () => {
  it('is nothing in a healthy cluster', () => {
    assert.deepEqual([deletions(byOperator), deletions(byManifest)], [[], []]);
  });

  it('is the Installation, with its date and what holds it', () => {
    assert.deepEqual(deletions({ ...byOperator, installations: { value: [installation(since)] } }), [
      'Installation/default: being deleted since 2026-05-04T08:10:00Z; it waits for tigera.io/operator-cleanup',
    ]);
  });

  it('is a CRD of the service or its operator, and none of others', () => {
    const crds = ['ippools.crd.projectcalico.org', 'installations.operator.tigera.io', 'shops.example.com'];
    const value = crds.map((name) => ({ ...crdFact(name), deletedAt: '2026-05-04T08:10:00Z' }));
    assert.deepEqual(
      found({ ...byManifest, crds: { value } }).deletions.map(({ ref, next }) => [refText(ref), String(next)]),
      crds.slice(0, 2).map((name) => [`CustomResourceDefinition/${name}`, `kubectl get crd ${name} -o yaml`]),
    );
  });

  it('is the agents’ own DaemonSet', () => {
    const agent = ofManifest[0] as KubeObject;
    const [first] = found({ daemonSets: { value: [{ ...agent, metadata: { ...agent.metadata, ...since } }] } }).deletions;
    assert.equal(String(first?.next), 'kubectl -n kube-system get daemonset calico-node -o yaml');
  });
});

describe('a procedure that nobody ended', () => {
  it('is none in a healthy cluster', () => {
    const open = information({ datastoreReady: true });
    assert.deepEqual(
      [unfinished({ ...byOperator, clusterInformation: open }), unfinished({ ...byManifest, clusterInformation: open })],
      [[], []],
    );
    assert.deepEqual(unfinished({ ...byManifest, clusterInformation: information({}) }), []);
  });

  it('is a locked datastore', () => {
    const [only] = found({ ...byManifest, clusterInformation: information({ datastoreReady: false }) }).unfinished;
    assert.match(only?.detail ?? '', /datastore is locked \(spec\.datastoreReady is false\)/);
    assert.match(only?.hint ?? '', /calicoctl datastore migrate unlock/);
  });

  it('is what cannot be read: a lock, and migrations whose CRD is there', () => {
    assert.match(
      unfinished({ ...byManifest, clusterInformation: { unread: 'forbidden' } })[0] ?? '',
      /locked could not be read: forbidden/,
    );
    assert.match(unfinished({ ...byManifest, migrations: { unread: 'forbidden' } })[0] ?? '', /under way could not be read: forbidden/);
  });

  it('is a migration of the datastore in any phase, also one that has none yet', () => {
    const value = [
      migration({ phase: 'WaitingForConflictResolution', message: '2 conflicts' }),
      migration({ phase: 'Complete' }, since),
      migration({}),
    ];
    assert.deepEqual(unfinished({ ...byManifest, migrations: { value } }), [
      'DatastoreMigration/v1-to-v3: migration to native CRDs in phase WaitingForConflictResolution (2 conflicts)',
      'DatastoreMigration/v1-to-v3: migration to native CRDs in phase Complete, being deleted since 2026-05-04T08:10:00Z',
      'DatastoreMigration/v1-to-v3: migration to native CRDs in phase none yet',
    ]);
  });

  it('is a migration from flannel: nodes of before, at work, or without a label while its ConfigMap is there', () => {
    const value = [
      node('a', { [NETWORK]: 'calico' }),
      node('b', { [NETWORK]: 'flannel' }),
      node('c', { [NETWORK]: 'calico', [WORKING]: 'true' }),
      node('d'),
    ];
    assert.match(unfinished({ ...byManifest, nodes: { value } })[0] ?? '', /not come to its end on 2 nodes: b, c$/);
    assert.match(unfinished({ ...byManifest, nodes: { value }, configMaps: { value: [flannel] } })[0] ?? '', /on 3 nodes: b, c, d$/);
    const done = [node('a', { [NETWORK]: 'calico' }), node('b', { [NETWORK]: 'calico' })];
    assert.deepEqual(unfinished({ ...byManifest, nodes: { value: done }, configMaps: { value: [flannel] } }), []);
  });

  it('is the move of allocations beside host-local, and not one without the other', () => {
    const at = (container: string, plugin: string) => unfinished({ ...moving(container), configMaps: { value: [cni(plugin)] } });
    assert.match(at('upgrade-ipam', 'host-local')[0] ?? '', /ConfigMap\/kube-system\/calico-config: .* addresses are given twice/);
    assert.deepEqual([at('upgrade-ipam', 'calico-ipam'), at('flexvol-driver', 'host-local')], [[], []]);
  });

  it('is what the operator left of the manifest', () => {
    const left = workloadOf('Deployment', 'calico-kube-controllers', {
      images: { 'calico-kube-controllers': 'calico/kube-controllers:v3.20.0' },
    });
    assert.match(
      unfinished({ ...byOperator, deployments: { value: [left] } })[0] ?? '',
      /^Deployment\/kube-system\/calico-kube-controllers: of the manifest/,
    );
    assert.deepEqual(unfinished({ ...byManifest, deployments: { value: [left] } }), []);
  });
});

describe('migrations of the datastore', () => {
  const asked = async (...crds: readonly string[]) => {
    const kinds: string[] = [];
    const cluster = {
      get: async () => undefined,
      list: async (kind: Kind, _options?: ListOptions) => {
        kinds.push(kind.plural);
        return kind.plural === K.CustomResourceDefinition.plural
          ? crds.map((name) => object('v1', `CustomResourceDefinition/${name}`))
          : [];
      },
    } as unknown as ClusterReader;
    await readInventory({ cluster, records: { load: async () => undefined } as unknown as Sources['records'] }, calico);
    return kinds.filter((one) => one === 'datastoremigrations').length;
  };

  it('are asked for only where their CRD is there', async () => {
    assert.deepEqual(
      [await asked('ippools.crd.projectcalico.org'), await asked('datastoremigrations.migration.projectcalico.org')],
      [0, 1],
    );
  });
});

describe('crds and apply by themselves', () => {
  const accept = ['NS-114', 'NS-115', 'NS-623'].map((check) => ({ check }));
  for (const stage of [crdsStage, applyStage]) {
    it(`stop at a deletion and at what the target refuses, accepted or not, and at a lock: ${stage.id}`, async () => {
      const bench = await operatedBench({
        options: { accept },
        more: [object('crd.projectcalico.org/v1', 'ClusterInformation/default', { spec: { datastoreReady: false } })],
      });
      const { sources, context } = bench;
      const before = (await stage.open(sources, context)).findings().filter(({ id }) => accept.some(({ check }) => check === id));
      assert.deepEqual(
        before.map(({ id, outcome }) => [id, outcome]),
        [
          ['NS-114', 'ok'],
          ['NS-115', 'error'],
          ['NS-623', 'ok'],
        ],
      );
      bench.around.edit('Installation', 'default', [
        { op: 'add', path: '/metadata/deletionTimestamp', value: '2026-05-04T08:10:00Z' },
        { op: 'add', path: '/spec/nonPrivileged', value: 'Enabled' },
      ]);
      const open = await stage.open(sources, context);
      const after = new Map(open.findings().map((finding) => [finding.id, finding]));
      for (const id of ['NS-114', 'NS-623']) assert.equal(after.get(id)?.outcome, 'error', id);
      assert.match(after.get('NS-114')?.message ?? '', /Installation\/default: being deleted since 2026-05-04/);
      assert.match(after.get('NS-114')?.hint ?? '', /Keep a copy of the spec/);
    });
  }
});
