import assert from 'node:assert/strict';
import { readInventory } from '../../../src/features/survey/inventory.ts';
import { FORBIDDEN } from '../../../src/features/survey/reading.ts';
import { K } from '../../../src/kernel/kinds.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader, type ListOptions, type Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { emptySources } from '../../support/empty-sources.ts';
import { objectOf } from '../../support/inventory.ts';

type Asked = Pick<Kind, 'plural'> & ListOptions;

interface Fake extends Pick<Sources, 'cluster' | 'records'> {
  readonly asked: Asked[];
}

/** A cluster of lists by plural; a missing plural is a kind that is not served, an error is thrown. */
function fakeCluster(lists: Readonly<Record<string, readonly KubeObject[] | Error>>): Fake {
  const asked: Asked[] = [];
  const answer = (kind: Kind) => {
    const found = lists[kind.plural];
    if (found === undefined) throw new ApiFailure(404, 'NotFound', `${kind.plural} are not served`);
    if (found instanceof Error) throw found;
    return found;
  };
  const reader: Pick<ClusterReader, 'list' | 'get'> = {
    async list(kind, options = {}) {
      asked.push({ plural: kind.plural, ...options });
      return answer(kind).filter(({ metadata }) => options.namespace === undefined || metadata.namespace === options.namespace);
    },
    async get(kind, name) {
      asked.push({ plural: kind.plural, fieldSelector: name });
      if (lists[kind.plural] === undefined) return undefined;
      return answer(kind).find((object) => object.metadata.name === name && object.apiVersion === apiVersionOf(kind));
    },
  };
  return { cluster: reader as ClusterReader, records: emptySources().records, asked };
}

const crd = (name: string) => objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', name);
const forbidden = new ApiFailure(403, 'Forbidden', 'secrets is forbidden');
const everything = Object.fromEntries(Object.values(K).map(({ plural }) => [plural, [] as readonly KubeObject[]]));

describe('reading the inventory', () => {
  it('gives every part of an empty cluster as empty, kinds that are not served included', async () => {
    const inventory = await readInventory(fakeCluster(everything), calico);
    const { clusterInformation, ...lists } = inventory;
    assert.deepEqual(clusterInformation, { value: undefined });
    for (const [name, reading] of Object.entries(lists)) assert.deepEqual(reading, { value: [] }, name);
  });

  it('keeps the reason for each part that cannot be read, and reads the others', async () => {
    const silent = new ApiFailure(0, 'Timeout', 'request timed out');
    const inventory = await readInventory(fakeCluster({ ...everything, secrets: forbidden, nodes: silent }), calico);
    assert.deepEqual(inventory.chartReleases, { unread: 'secrets is forbidden (403)', ...FORBIDDEN });
    assert.deepEqual(inventory.nodes, { unread: 'request timed out (no answer)' });
    assert.deepEqual(inventory.daemonSets, { value: [] });
  });

  it('has the Installations that the operator reads, and another one only where there is none of these', async () => {
    const named = (name: string) => objectOf('operator.tigera.io/v1', 'Installation', name);
    const namesOf = async (...installations: readonly KubeObject[]) => {
      const reading = (await readInventory(fakeCluster({ ...everything, installations }), calico)).installations;
      return 'value' in reading ? reading.value.map(({ metadata }) => metadata.name) : reading.unread;
    };
    assert.deepEqual(await namesOf(named('calico'), named('overlay'), named('default')), ['default', 'overlay']);
    assert.deepEqual(await namesOf(named('calico')), ['calico']);
  });

  it('asks for the Services by which an operator knows where it runs, where there is an Installation alone', async () => {
    const dns = { ...objectOf('v1', 'Service', 'kube-dns'), metadata: { name: 'kube-dns', namespace: 'kube-system' } };
    const asked = async (...installations: readonly KubeObject[]) => {
      const fake = fakeCluster({ ...everything, installations, services: [dns] });
      const { services } = await readInventory(fake, calico);
      return [
        fake.asked.filter(({ plural }) => plural === 'services').length,
        'value' in services ? services.value.length : services.unread,
      ];
    };
    assert.deepEqual(await asked(), [0, 0]);
    assert.deepEqual(await asked(objectOf('operator.tigera.io/v1', 'Installation', 'default')), [2, 1]);
  });

  it('does not take a defect for something unread', async () => {
    await assert.rejects(readInventory(fakeCluster({ ...everything, pods: new TypeError('defect') }), calico), TypeError);
  });

  it('reads only metadata of secrets, nodes and CRDs', async () => {
    const customresourcedefinitions = [crd('tiers.crd.projectcalico.org'), crd('apps.example.com')];
    const fake = fakeCluster({ ...everything, customresourcedefinitions });
    const { crds } = await readInventory(fake, calico);
    assert.deepEqual(crds, {
      value: [
        { name: 'tiers.crd.projectcalico.org', plural: 'tiers', group: 'crd.projectcalico.org' },
        { name: 'apps.example.com', plural: 'apps', group: 'example.com' },
      ],
    });
    const metadataOnly = new Set(fake.asked.filter((request) => request.metadataOnly).map(({ plural }) => plural));
    assert.deepEqual([...metadataOnly].sort(), ['configmaps', 'customresourcedefinitions', 'nodes', 'secrets']);
    assert.equal(fake.asked.filter(({ plural }) => plural === 'customresourcedefinitions').length, 1, 'definitions are large');
  });

  it('keeps of a node its name and the labels that it reads, by one function: two who ask share an answer', async () => {
    const keepOf = async () => {
      const fake = fakeCluster(everything);
      await readInventory(fake, calico);
      return fake.asked.find(({ plural }) => plural === 'nodes')?.keep;
    };
    const [keep, again] = [await keepOf(), await keepOf()];
    assert.equal(keep, again);
    const own = { 'projectcalico.org/operator-node-migration': 'pre-operator', 'cloud.google.com/gke-nodepool': 'a' };
    const node = (labels: Record<string, string>) => objectOf('v1', 'Node', 'a', { metadata: { labels: { rack: '1', ...labels } } });
    assert.deepEqual([keep?.(node(own)).metadata, keep?.(node({})).metadata], [{ name: 'a', labels: own }, { name: 'a' }]);
  });

  it('asks for each kind once: per cluster, or per namespace of the service', async () => {
    const fake = fakeCluster(everything);
    await readInventory(fake, calico);
    const requests = fake.asked.map(({ plural, namespace = '*', fieldSelector = '' }) => `${plural} ${namespace} ${fieldSelector}`);
    const once = requests.filter((request) => !request.startsWith('clusterinformations'));
    assert.equal(new Set(once).size, once.length);
    const places = (plural: string) => fake.asked.filter((request) => request.plural === plural).map(({ namespace = '*' }) => namespace);
    assert.deepEqual(places('daemonsets'), ['*']);
    assert.deepEqual(places('deployments'), ['*']);
    const namespaces = ['calico-apiserver', 'calico-system', 'kube-system', 'tigera-operator'];
    assert.deepEqual(places('pods').sort(), namespaces);
    assert.deepEqual(places('configmaps').sort(), ['*', ...namespaces]);
  });

  it('finds chart releases in Secrets and in ConfigMaps, the latter only where they can be read', async () => {
    const release = (kind: string) => objectOf('v1', kind, `release-in-${kind}`, { metadata: { labels: { owner: 'helm' } } });
    const lists = { ...everything, secrets: [release('Secret')] };
    const names = async (configmaps: readonly KubeObject[] | Error) => {
      const { chartReleases } = await readInventory(fakeCluster({ ...lists, configmaps }), calico);
      return 'value' in chartReleases ? chartReleases.value.map(({ metadata }) => metadata.name) : [];
    };
    assert.deepEqual(await names([release('ConfigMap')]), ['release-in-Secret', 'release-in-ConfigMap']);
    assert.deepEqual(await names(forbidden), ['release-in-Secret']);
  });

  it('keeps of pods what a rollout needs, and asks only for those of the service', async () => {
    const spec = { nodeName: 'n1', containers: [{ name: 'calico-node', image: 'quay.io/calico/node:v3.27.5' }] };
    const fake = fakeCluster({
      ...everything,
      pods: [objectOf('v1', 'Pod', 'calico-node-x', { metadata: { namespace: 'kube-system' }, spec })],
    });
    const { pods } = await readInventory(fake, calico);
    assert.ok('value' in pods);
    assert.deepEqual(
      pods.value.map(({ name, node, images }) => [name, node, images]),
      [['calico-node-x', 'n1', { 'calico-node': 'quay.io/calico/node:v3.27.5' }]],
    );
    const selectors = new Set(fake.asked.filter(({ plural }) => plural === 'pods').map(({ labelSelector }) => labelSelector));
    assert.equal(selectors.size, 1);
    for (const name of ['calico-node', 'canal', 'canal-node', 'calico-typha', 'calico-kube-controllers', 'calico-apiserver']) {
      assert.ok([...selectors][0]?.includes(name), name);
    }
  });

  for (const apiVersion of ['crd.projectcalico.org/v1', 'projectcalico.org/v3']) {
    it(`finds the ClusterInformation of ${apiVersion}`, async () => {
      const object = objectOf(apiVersion, 'ClusterInformation', 'default', { spec: { calicoVersion: 'v3.27.5' } });
      const { clusterInformation } = await readInventory(fakeCluster({ ...everything, clusterinformations: [object] }), calico);
      assert.deepEqual(clusterInformation, { value: object });
    });
  }
});
