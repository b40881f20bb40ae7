import assert from 'node:assert/strict';
import { agentSettingsIn, dataPlaneOf } from '../../../src/features/survey/data-plane.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { ClusterReader } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';

const object = (kind: string, spec: unknown): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'default', namespace: 'n' },
  spec,
});
const agentWith = (env: readonly object[]) => {
  const container = { name: 'calico-node', env } as never;
  return { object: object('DaemonSet', { template: { spec: { containers: [container] } } }), container };
};
const seenWith = (bpfEnabled: unknown, more: object = {}) => ({
  ...{
    profile: calico,
    configMaps: [],
    datastore: 'api' as const,
    agentSettings: { value: [object('FelixConfiguration', { bpfEnabled })] },
  },
  ...more,
});

describe('the data plane of the agents', () => {
  it('is that of their settings, and of their environment before those', () => {
    const on = agentWith([{ name: 'FELIX_BPFENABLED', value: 'True' }]);
    const off = agentWith([{ name: 'FELIX_BPFENABLED', value: 'false' }]);
    assert.deepEqual(dataPlaneOf(agentWith([]), seenWith(true)), { dataPlane: 'ebpf' });
    assert.deepEqual(dataPlaneOf(agentWith([]), seenWith(undefined)), { dataPlane: 'standard' });
    assert.deepEqual(dataPlaneOf(on, seenWith(undefined)), { dataPlane: 'ebpf', overrulesNodes: true });
    assert.deepEqual(dataPlaneOf(off, seenWith(true)), { dataPlane: 'standard', overrulesNodes: true });
  });

  it('is eBPF where a single node has it, unless the environment of all agents says otherwise', () => {
    const agentSettings = { value: [object('FelixConfiguration', {}), object('FelixConfiguration', { bpfEnabled: true })] };
    assert.deepEqual(dataPlaneOf(agentWith([]), seenWith(undefined, { agentSettings })), { dataPlane: 'ebpf' });
    const off = agentWith([{ name: 'FELIX_BPFENABLED', value: 'false' }]);
    assert.equal(dataPlaneOf(off, seenWith(undefined, { agentSettings })).dataPlane, 'standard');
  });

  it('is that of the Installation, by which the operator sets it', () => {
    const installation = object('Installation', { calicoNetwork: { linuxDataplane: 'BPF' } });
    assert.deepEqual(dataPlaneOf(agentWith([]), seenWith(undefined, { installation })), { dataPlane: 'ebpf' });
  });

  it('is not known where the settings could not be read, or are in a key-value store', () => {
    assert.deepEqual(dataPlaneOf(agentWith([]), seenWith(true, { agentSettings: { unread: 'forbidden' } })), {});
    assert.deepEqual(dataPlaneOf(agentWith([]), seenWith(undefined, { datastore: 'kvstore' })), {});
  });

  it('is asked for where its kind is stored, and by one request', async () => {
    const asked: string[] = [];
    const list = async ({ group }: { group: string }) => [asked.push(group)].slice(1);
    const cluster = { list } as unknown as ClusterReader;
    for (const group of ['crd.projectcalico.org', 'projectcalico.org'])
      await agentSettingsIn(cluster, calico, [{ group, plural: 'felixconfigurations' }]);
    await agentSettingsIn(cluster, calico, []);
    assert.deepEqual(asked, ['crd.projectcalico.org', 'projectcalico.org']);
  });
});
