import assert from 'node:assert/strict';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { agent, deployment, detectIn, foundIn, installation, operatedAgent, operator, unclearIn } from '../../support/calico-objects.ts';
import { objectOf } from '../../support/inventory.ts';

describe('detection of operator and chart installs', () => {
  const annotated = { 'meta.helm.sh/release-name': 'calico', 'meta.helm.sh/release-namespace': 'tigera-operator' };
  const secret = (version: string, status: string, name = 'calico') =>
    objectOf('v1', 'Secret', `sh.helm.release.v1.${name}.v${version}`, {
      metadata: { namespace: 'tigera-operator', labels: { owner: 'helm', name, version, status } },
    });

  it('finds an operator by manifest', () => {
    const found = foundIn([installation(), operator(), operatedAgent()]);
    assert.deepEqual([found.path, found.variant, found.datastore, found.release], ['operator', undefined, 'api', 'v3.27.5']);
    assert.deepEqual(found.operator, { namespace: 'tigera-operator', name: 'tigera-operator' });
    assert.deepEqual(found.agent, { kind: 'DaemonSet', namespace: 'calico-system', name: 'calico-node', container: 'calico-node' });
    assert.equal(found.chart, undefined);
  });

  it('finds what the operator finds of its provider, by Services and labels of nodes', () => {
    const dns = objectOf('v1', 'Service', 'rke2-coredns-rke2-coredns', { metadata: { namespace: 'kube-system' } });
    const master = objectOf('v1', 'Node', 'a', {
      metadata: { labels: { 'com.docker.ucp.manager': '', 'node-role.kubernetes.io/master': '' } },
    });
    const providerOf = (...more: readonly KubeObject[]) =>
      foundIn([installation(), operator(), operatedAgent(), ...more]).input?.found.provider;
    assert.deepEqual([providerOf(), providerOf(dns), providerOf(dns, master)], [undefined, 'RKE2', 'DockerEE']);
  });

  it('finds the operator in another namespace by its label, and without a Deployment by the Installation', () => {
    const moved = deployment('calico-operator', 'mirror/op:v1.32.12', { namespace: 'net', labels: { 'k8s-app': 'tigera-operator' } });
    assert.deepEqual(foundIn([installation(), moved, operatedAgent()]).operator, { namespace: 'net', name: 'calico-operator' });
    assert.equal(foundIn([installation(), operatedAgent()]).path, 'operator');
  });

  it('finds a chart release with its newest revision', () => {
    const chartReleases = { value: [secret('9', 'superseded'), secret('10', 'pending-upgrade'), secret('99', 'deployed', 'other')] };
    const found = foundIn([installation(), operator({ annotations: annotated }), operatedAgent()], { chartReleases });
    assert.equal(found.path, 'chart');
    assert.deepEqual(found.chart, { name: 'calico', namespace: 'tigera-operator', revision: 10, status: 'pending-upgrade' });
  });

  it('finds a chart release by annotations alone where Secrets cannot be read', () => {
    const found = foundIn([installation({ annotations: annotated }), operator(), operatedAgent()], {
      chartReleases: { unread: 'forbidden (403)' },
    });
    assert.deepEqual([found.path, found.chart], ['chart', { name: 'calico', namespace: 'tigera-operator' }]);
    assert.ok(found.evidence.some((line) => line.includes('could not be read: forbidden (403)')));
  });

  it('does not guess where the annotated release is not stored, until a person says the path', () => {
    const objects = [installation(), operator({ annotations: annotated }), operatedAgent()];
    const unclear = unclearIn(objects);
    assert.deepEqual(unclear.candidates, ['chart', 'operator']);
    assert.equal(foundIn(objects, {}, { path: 'operator' }).chart, undefined);
    assert.deepEqual(foundIn(objects, {}, { path: 'chart' }).chart, { name: 'calico', namespace: 'tigera-operator' });
  });

  it('reports a chart that was rendered without a release', () => {
    const found = foundIn([installation(), operator({ labels: { 'app.kubernetes.io/managed-by': 'Helm' } }), operatedAgent()]);
    assert.equal(found.path, 'operator');
    assert.deepEqual(
      found.managedBy.map(({ name }) => name),
      ['a rendered chart'],
    );
  });

  const half: readonly (readonly [string, readonly KubeObject[]])[] = [
    ['agents of both kinds', [installation(), operatedAgent(), agent()]],
    ['agents of both kinds without an Installation', [operatedAgent(), agent({ name: 'canal' })]],
    ['an Installation beside the agents of a manifest', [installation(), agent()]],
    [
      'nodes that still wait',
      [
        installation(),
        operatedAgent(),
        objectOf('v1', 'Node', 'n1', { metadata: { labels: { 'projectcalico.org/operator-node-migration': 'pre-operator' } } }),
      ],
    ],
  ];
  for (const [what, objects] of half) {
    it(`calls ${what} a migration that is not finished`, () => {
      assert.equal(detectIn(objects).type, 'half-migrated');
    });
  }

  it('does not mind nodes that are migrated', () => {
    const node = objectOf('v1', 'Node', 'n1', { metadata: { labels: { 'projectcalico.org/operator-node-migration': 'migrated' } } });
    assert.equal(detectIn([installation(), operatedAgent(), node]).type, 'found');
  });

  it('says what an idle operator would bring', () => {
    const detection = detectIn([operator()]);
    assert.ok(detection.type === 'none');
    assert.match(detection.because, /it installs v3\.27\.5/);
  });
});
