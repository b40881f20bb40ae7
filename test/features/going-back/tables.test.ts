import assert from 'node:assert/strict';
import { readTables } from '../../../src/features/going-back/tables.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { DataPlane, Installation } from '../../../src/kernel/installation.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';

const KIND = {
  group: 'crd.projectcalico.org',
  version: 'v1',
  kind: 'FelixConfiguration',
  plural: 'felixconfigurations',
  namespaced: false,
};

interface Live {
  readonly dataPlane?: DataPlane;
  /** `bpfEnabled` by the name of a FelixConfiguration. */
  readonly settings?: Readonly<Record<string, boolean>>;
  readonly path?: Installation['path'];
  readonly overrulesNodes?: boolean;
}

async function readBy(
  release: string,
  { dataPlane = 'standard', settings = {}, path = 'manifest', overrulesNodes = false }: Live,
  left = 'v3.32.1',
) {
  const list = async (_: unknown, { keep = (one: KubeObject) => one } = {}) =>
    Object.entries(settings).map(([name, bpfEnabled]) =>
      keep({ apiVersion: 'crd.projectcalico.org/v1', kind: KIND.kind, metadata: { name }, spec: { bpfEnabled } }),
    );
  const cluster = { discover: async () => ({ kinds: [KIND], failedGroups: [] }), list };
  const tools = { which: async () => [], platform: () => ({ os: 'linux', arch: 'amd64' }) };
  const takesBack = { runId: 'r', from: release, to: left, wrote: [], startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = { ...contextOf({ release }, calico), goal: { release, takesBack }, intent: { kind: 'rollback' } };
  const datastore = path === 'kvstore' ? 'kvstore' : 'api';
  const { dataPlane: _, ...rest } = installation;
  const there: Installation = {
    ...rest,
    path,
    datastore,
    overrulesNodes,
    ...(path === 'kvstore' && dataPlane === 'standard' ? {} : { dataPlane }),
  };
  const read = await readTables({ cluster, tools } as unknown as Sources, context, there);
  return 'value' in read ? read.value?.map(({ object, detail }) => `${object.kind}/${object.name}: ${detail}`) : read.unread;
}

describe('tables of eBPF that an older agent refuses', () => {
  it('are there where agents are in eBPF mode now, whatever it was when the upgrade began', async () => {
    assert.deepEqual(await readBy('v3.30.7', { dataPlane: 'ebpf', settings: { default: true } }), [
      'FelixConfiguration/default: bpfEnabled true',
    ]);
    assert.deepEqual(await readBy('v3.30.7', { dataPlane: 'ebpf' }), ['DaemonSet/calico-node: its agents are in eBPF mode']);
    assert.deepEqual(await readBy('v3.30.7', {}), []);
  });

  it('are there on a single node, by its own configuration', async () => {
    const settings = { default: false, 'node.node-01': true, 'node.node-02': false };
    assert.deepEqual(await readBy('v3.30.7', { dataPlane: 'ebpf', settings }), ['FelixConfiguration/node.node-01: bpfEnabled true']);
  });

  it('are not there where the environment of the agents overrules every configuration', async () => {
    const settings = { 'node.node-01': true };
    const overrulesNodes = true;
    assert.deepEqual(await readBy('v3.30.7', { settings: { default: true, ...settings }, overrulesNodes }), []);
    assert.deepEqual(await readBy('v3.30.7', { settings, overrulesNodes }), []);
  });

  it('are not known in a key-value store whose CLI cannot be asked', async () => {
    assert.match(String(await readBy('v3.30.7', { path: 'kvstore' })), /no calicoctl of v3\.32\.1 was found/);
    assert.deepEqual(await readBy('v3.30.7', { path: 'kvstore', dataPlane: 'ebpf' }), [
      'DaemonSet/calico-node: its agents are in eBPF mode',
    ]);
  });

  it('are the same in both releases from v3.31 on, and before it', async () => {
    assert.equal(await readBy('v3.31.0', { dataPlane: 'ebpf' }), undefined);
    assert.equal(await readBy('v3.29.7', { dataPlane: 'ebpf' }, 'v3.30.7'), undefined);
  });
});
