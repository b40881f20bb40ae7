import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { detect } from '../../../src/features/survey/detect.ts';
import { crdFact } from '../../../src/features/survey/inventory.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import {
  agent,
  BIRD,
  configMap,
  controllers,
  deployment,
  detectIn,
  foundIn,
  KUBERNETES,
  operatedAgent,
  typha,
  unclearIn,
} from '../../support/calico-objects.ts';
import { inventoryOfManifest, inventoryOfObjects, workloadOf } from '../../support/inventory.ts';
import { manifestFile, ownReleases } from '../../support/releases.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

describe('detection of manifest installs', () => {
  const fromConfig = (key: string, name = 'calico-config') => ({ valueFrom: { configMapKeyRef: { name, key } } });

  const variants: readonly (readonly [string, string, readonly KubeObject[]])[] = [
    ['calico', 'BGP networking', [agent(), controllers()]],
    ['calico-vxlan', 'the backend vxlan', [agent({ env: { ...KUBERNETES, CALICO_NETWORKING_BACKEND: 'vxlan' } })]],
    ['calico-bpf', 'eBPF without IPIP', [agent({ env: { ...BIRD, FELIX_BPFENABLED: 'true', CALICO_IPV4POOL_IPIP: 'Never' } })]],
    [
      'calico',
      'eBPF switched on in the combined manifest',
      [agent({ env: { ...BIRD, FELIX_BPFENABLED: 'true', CALICO_IPV4POOL_IPIP: 'Always' } })],
    ],
    ['calico-typha', 'Typha that the agents use', [agent(), typha(), configMap({ typha_service_name: 'calico-typha' })]],
    [
      'calico-policy-only',
      'Typha and no networking',
      [agent({ env: { ...KUBERNETES, CALICO_NETWORKING_BACKEND: 'none' } }), typha(), configMap({ typha_service_name: 'calico-typha' })],
    ],
    ['canal', 'flannel', [agent({ name: 'canal', env: KUBERNETES, more: { 'kube-flannel': 'docker.io/flannel/flannel:v0.24.4' } })]],
    [
      'calico-etcd',
      'etcd endpoints',
      [agent({ env: { ETCD_ENDPOINTS: 'https://e:2379' } }), configMap({ etcd_endpoints: 'https://e:2379' })],
    ],
    [
      'canal-etcd',
      'flannel and etcd endpoints',
      [
        agent({ name: 'canal-node', env: { ETCD_ENDPOINTS: 'https://e:2379' }, more: { flannel: 'docker.io/flannel/flannel:v0.24.4' } }),
        configMap({ etcd_endpoints: 'https://e:2379' }, 'canal-config'),
      ],
    ],
  ];
  for (const [variant, what, objects] of variants) {
    it(`calls ${what} ${variant}`, () => {
      const found = foundIn(objects);
      const kvstore = variant.endsWith('etcd');
      assert.deepEqual(
        [found.variant, found.path, found.datastore],
        [variant, kvstore ? 'kvstore' : 'manifest', kvstore ? 'kvstore' : 'api'],
      );
      assert.equal(found.release, 'v3.27.5');
      assert.deepEqual(found.mixed, []);
    });
  }

  it('reads variables through ConfigMap references, and the last of repeated ones', () => {
    const object = agent();
    const env = [
      { name: 'DATASTORE_TYPE', value: 'etcdv3' },
      { name: 'DATASTORE_TYPE', value: 'kubernetes' },
      { name: 'CALICO_NETWORKING_BACKEND', ...fromConfig('calico_backend') },
      { name: 'CLUSTER_TYPE', ...fromConfig('cluster_type') },
    ];
    const spec = {
      template: {
        spec: {
          containers: [{ name: 'calico-node', image: 'quay.io/calico/node:v3.27.5', env }],
          initContainers: [{ name: 'install-cni' }],
        },
      },
    };
    const found = foundIn([{ ...object, spec }, configMap({ calico_backend: 'vxlan', cluster_type: 'kubespray,bgp' })]);
    assert.equal(found.variant, 'calico-vxlan');
    assert.deepEqual(
      found.managedBy.map(({ name, kind }) => [name, kind]),
      [['kubespray', 'platform']],
    );
  });

  const ambiguous: readonly (readonly [string, readonly KubeObject[], RegExp, readonly string[]])[] = [
    [
      'a Typha that the agents do not use',
      [agent(), typha(), configMap({ typha_service_name: 'none' })],
      /fits no manifest variant/,
      ['calico', 'calico-typha'],
    ],
    [
      'etcd variables beside the API datastore',
      [agent({ env: { ...BIRD, ETCD_ENDPOINTS: 'http://e' } })],
      /fits no manifest variant/,
      ['calico', 'calico-etcd'],
    ],
    [
      'the key-value store beside settings of the API datastore, and no endpoints',
      [agent({ env: { ...BIRD, DATASTORE_TYPE: 'etcdv3' } })],
      /fits no manifest variant/,
      ['calico', 'calico-typha', 'calico-etcd'],
    ],
    [
      'no word about the datastore',
      [agent({ env: { CALICO_NETWORKING_BACKEND: 'bird' } })],
      /neither DATASTORE_TYPE nor ETCD_ENDPOINTS/,
      ['calico'],
    ],
    [
      'an unknown datastore',
      [agent({ env: { ...BIRD, DATASTORE_TYPE: 'consul' } })],
      /DATASTORE_TYPE of the agents is "consul"/,
      ['calico'],
    ],
    ['two agent DaemonSets', [agent(), agent({ name: 'canal' })], /several DaemonSets/, ['calico', 'canal']],
    ['agents under another name', [agent({ name: 'rke2-canal' })], /rke2-canal runs the agent, but no install manifest/, ['canal']],
    ["the operator's agents without an Installation", [operatedAgent()], /operator's, but there is no Installation/, []],
  ];
  for (const [what, objects, because, candidates] of ambiguous) {
    it(`does not guess with ${what}`, () => {
      const unclear = unclearIn(objects);
      assert.match(unclear.because, because);
      for (const candidate of candidates) assert.ok(unclear.candidates.includes(candidate), candidate);
    });
  }

  it('puts the nearest variant first, and says which signs are missing', () => {
    const { candidates, evidence } = unclearIn([agent(), typha(), configMap({ typha_service_name: 'none' })]);
    assert.equal(candidates.length, 6);
    assert.ok(evidence.includes('not calico: there is a Deployment calico-typha'), evidence.join('\n'));
    assert.ok(evidence.includes('not calico-typha: key typha_service_name of ConfigMap calico-config is "none"'));
  });

  it('takes the variant that a person names', () => {
    assert.equal(foundIn([agent(), typha()], {}, { variant: 'calico-typha' }).variant, 'calico-typha');
    assert.equal(foundIn([agent({ name: 'odd' })], {}, { variant: 'calico-etcd' }).path, 'kvstore');
  });

  it('takes an empty variable and an empty key for one that is not set', () => {
    assert.equal(foundIn([agent({ env: { ...BIRD, ETCD_ENDPOINTS: '' } }), configMap({ etcd_endpoints: '' })]).variant, 'calico');
    const unclear = unclearIn([agent({ env: { CALICO_NETWORKING_BACKEND: 'bird' } }), configMap({ etcd_endpoints: '' })]);
    assert.match(unclear.because, /neither DATASTORE_TYPE/);
  });

  it('refuses a variant that the profile has not, and a path that it is not', () => {
    assert.match(unclearIn([agent()], {}, { variant: 'cilium' }).because, /no variant cilium/);
    assert.match(unclearIn([agent()], {}, { path: 'operator' }).because, /path manifest, not operator/);
    assert.match(unclearIn([agent()], {}, { path: 'kvstore' }).because, /path manifest, not kvstore/);
  });

  it('finds nothing where no agent runs, whatever CRDs were left behind', () => {
    const detection = detectIn([deployment('web', 'node:20')], { crds: { value: [crdFact('installations.operator.tigera.io')] } });
    assert.equal(detection.type, 'none');
    assert.equal(detectIn([workloadOf('DaemonSet', 'web', { images: { web: 'node:20' } })]).type, 'none');
  });

  it('does not take the Windows agents for agents', () => {
    assert.equal(
      detectIn([workloadOf('DaemonSet', 'calico-node-windows', { images: { felix: 'calico/node-windows:v3.27.5' } })]).type,
      'none',
    );
  });

  it("finds the document's own install by its own names", () => {
    const own = workloadOf('DaemonSet', 'netsvc-node', { images: { 'netsvc-node': 'registry.netsvc.io/netsvc/node:v3.26.4' } });
    const config = configMap({ kvstore_endpoints: 'http://kv:2379' }, 'netsvc-config');
    const paths = [[own], [own, config]].map((objects) => detect(inventoryOfObjects(objects), netsvc));
    assert.deepEqual(
      paths.map((detection) => detection.type === 'found' && [detection.installation.variant, detection.installation.release]),
      [
        ['netsvc', 'v3.26.4'],
        ['netsvc-kvstore', 'v3.26.4'],
      ],
    );
  });

  for (const release of ['v3.26.4', NETSVC_TARGET])
    for (const { id, file } of netsvc.variants)
      it(`finds ${id} in what ${file} of ${release} installs, though its agents have one name in all variants`, () => {
        const detection = detect(inventoryOfManifest(readFileSync(manifestFile(release, file, ownReleases), 'utf8')), netsvc);
        assert.deepEqual(detection.type === 'found' && detection.installation.variant, id);
      });

  it('takes an overlay whose container has another name for no variant: --variant decides', () => {
    const images = { 'netsvc-node': 'registry.netsvc.io/netsvc/node:v3.26.4', flannel: 'flannel:v1', 'init:install-cni': 'cni:v1' };
    const own = workloadOf('DaemonSet', 'netsvc-node', { images, env: { NETWORKING_BACKEND: 'overlay' } });
    const detection = detect(inventoryOfObjects([own]), netsvc);
    assert.deepEqual(detection.type === 'ambiguous' && detection.because, 'DaemonSet/kube-system/netsvc-node: it fits no manifest variant');
  });
});
