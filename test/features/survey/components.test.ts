import assert from 'node:assert/strict';
import { agent, controllers, deployment, foundIn, installation, operatedAgent, operator, pod } from '../../support/calico-objects.ts';
import { workloadOf } from '../../support/inventory.ts';

describe('components and mixed releases', () => {
  it('lists what carries another release than the agents', () => {
    const pods = {
      value: [
        pod('calico-node-a', 'quay.io/calico/node:v3.26.1'),
        pod('calico-node-b', 'quay.io/calico/node:v3.27.5'),
        pod('calico-node-c', 'quay.io/calico/node:v3.26.1'),
      ],
    };
    const apiserver = deployment('calico-apiserver', 'quay.io/calico/apiserver:v3.25.0', { namespace: 'calico-apiserver' });
    const old = agent({ more: { 'init:mount-bpffs': 'quay.io/calico/node:v3.24.1', 'kube-flannel': 'docker.io/flannel/flannel:v0.24.4' } });
    const { mixed, hasApiServer, components } = foundIn([old, controllers('v3.26.1'), apiserver], { pods });
    assert.deepEqual(
      mixed.map(({ component, workload, container, release }) => [component, workload, container, release]),
      [
        ['agent', 'DaemonSet/kube-system/calico-node', 'mount-bpffs', 'v3.24.1'],
        ['agent', '2 pods of DaemonSet/kube-system/calico-node', 'calico-node', 'v3.26.1'],
        ['controllers', 'Deployment/kube-system/calico-kube-controllers', 'calico-kube-controllers', 'v3.26.1'],
        ['apiserver', 'Deployment/calico-apiserver/calico-apiserver', 'calico-apiserver', 'v3.25.0'],
      ],
    );
    assert.equal(hasApiServer, true);
    assert.equal(
      components.filter(({ workload }) => workload.includes('pod')).length,
      1,
      "pods of the workload's own image are not listed",
    );
  });

  it('does not call a build suffix, flannel or the operator another release', () => {
    const fips = foundIn([
      installation(),
      operator(),
      operatedAgent({ tag: 'v3.27.5-fips', more: { 'kube-flannel': 'docker.io/flannel/flannel:v0.24.4' } }),
    ]);
    assert.deepEqual(fips.mixed, []);
    assert.equal(fips.components.find(({ component }) => component === 'operator')?.release, 'v1.32.12');
  });

  it('knows Typha, API server and CSI driver by image as well, but not in foreign namespaces', () => {
    const csi = workloadOf('DaemonSet', 'csi', { namespace: 'calico-system', images: { c: 'quay.io/calico/csi:v3.27.5' } });
    const foreign = deployment('calico-apiserver', 'quay.io/calico/apiserver:v3.27.5', { namespace: 'shop' });
    const renamed = deployment('t', 'quay.io/calico/typha:v3.27.5');
    const found = foundIn([agent(), renamed, csi, foreign]);
    assert.deepEqual([found.hasTypha, found.hasCsiDriver, found.hasApiServer], [true, true, false]);
  });
});
