import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { imageList, imagesIn, pullSecretsIn, withRegistry } from '../../src/manifest/images.ts';

const pods = {
  initContainers: [{ name: 'i', image: 'calico/cni:v1' }],
  containers: [{ name: 'c', image: 'q.io/n@sha256:1' }, { name: 'd' }],
};
const object = (kind: string, spec: unknown): KubeObject => ({ apiVersion: 'v1', kind, metadata: { name: 'x', namespace: 'n' }, spec });

describe('images of objects', () => {
  for (const [kind, spec] of [
    ['DaemonSet', { template: { spec: pods } }],
    ['Job', { template: { spec: pods } }],
    ['CronJob', { jobTemplate: { spec: { template: { spec: pods } } } }],
    ['Pod', pods],
  ] as const) {
    it(`are found in a ${kind}`, () => assert.deepEqual(imagesIn([object(kind, spec)]), ['calico/cni:v1', 'q.io/n@sha256:1']));
  }

  it('are none in what has no pods, and in what is no workload at all', () => {
    assert.deepEqual(imagesIn([object('ConfigMap', undefined), object('Service', { template: 7 }), object('Pod', 'text')]), []);
  });

  it('have the Secrets that they are pulled with beside them', () => {
    assert.deepEqual(pullSecretsIn([object('Pod', { imagePullSecrets: [{ name: 'mirror' }, {}] })]), ['n/mirror']);
  });

  for (const [written, meant] of [
    ['calico/node:v1', 'docker.io/calico/node:v1'],
    ['busybox', 'docker.io/library/busybox'],
    ['quay.io/calico/node:v1', 'quay.io/calico/node:v1'],
    ['mirror:5000/node', 'mirror:5000/node'],
    ['localhost/node', 'localhost/node'],
  ] as const) {
    it(`are imageList with their registry: ${written}`, () => assert.equal(withRegistry(written), meant));
  }

  it('are imageList once, sorted', () => {
    assert.deepEqual(imageList(['b.io/x', 'calico/a', 'docker.io/calico/a']), ['b.io/x', 'docker.io/calico/a']);
  });
});
