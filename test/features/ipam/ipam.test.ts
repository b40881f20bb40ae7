import assert from 'node:assert/strict';
import { readIpam } from '../../../src/features/ipam/index.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import type { ListOptions } from '../../../src/kernel/ports.ts';
import { contextOf, object, resource } from '../../fixtures/facts.ts';

const GROUP = 'crd.projectcalico.org';
const kindOf = (kind: string, plural: string): Kind => ({ group: GROUP, version: 'v1', kind, plural, namespaced: false });
const KINDS = [kindOf('IPAMBlock', 'ipamblocks'), kindOf('BlockAffinity', 'blockaffinities'), kindOf('IPAMHandle', 'ipamhandles')];

interface Given {
  readonly handle?: string;
  readonly node?: string;
  readonly pod?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** A block in which the addresses with these numbers are given. */
function block(cidr: string, given: Readonly<Record<number, Given>>): KubeObject {
  const all = Object.entries(given);
  const allocations = Array.from({ length: 64 }, (_, ordinal) => {
    const index = all.findIndex(([number]) => Number(number) === ordinal);
    return index < 0 ? null : index;
  });
  const attributes = all.map(([number, { handle = `h${number}`, node = 'n1', pod, more = {} }]) => ({
    handle_id: handle,
    secondary: { node, ...(pod === undefined ? {} : { namespace: pod.split('/')[0], pod: pod.split('/')[1] }), ...more },
  }));
  return resource(`IPAMBlock/${cidr.replaceAll(/[.:/]+/g, '-')}`, { cidr, affinity: 'host:n1', allocations, attributes });
}

const affinity = (cidr: string, node: string, more: object = {}) =>
  resource(`BlockAffinity/${node}-${cidr.replaceAll(/[.:/]+/g, '-')}`, { cidr, node, state: 'confirmed', deleted: 'false', ...more });

const handle = (handleID: string) => resource(`IPAMHandle/${handleID}`, { handleID });

const node = (name: string, annotations: Readonly<Record<string, string>> = {}) =>
  object('v1', `Node/${name}`, { metadata: { annotations } });

interface Cluster {
  readonly objects: readonly KubeObject[];
  readonly nodes?: readonly KubeObject[];
  /** Names, as they were listed with everything else. */
  readonly pods?: readonly string[];
  /** The same when they are looked for again. */
  readonly later?: readonly string[];
  /** Addresses of pods, and the pools. */
  readonly addressed?: {
    readonly pods: readonly { readonly pod: string; readonly addresses: readonly string[] }[];
    readonly pools: readonly string[];
  };
  /** The objects, when they are looked for again. */
  readonly settled?: readonly KubeObject[];
  /** Pods with their addresses, when they are looked for again. */
  readonly again?: readonly KubeObject[];
}

async function read({ objects, settled = objects, nodes = [node('n1'), node('n2')], pods = [], later = pods, addressed, again }: Cluster) {
  const asked: string[] = [];
  const cluster = {
    discover: async () => ({ kinds: KINDS, failed: [] }),
    async list({ plural, kind }: Kind, { keep = (one: KubeObject) => one }: ListOptions = {}) {
      asked.push(plural);
      const found =
        kind === 'Node'
          ? nodes
          : kind === 'Pod'
            ? (again ?? later.map((pod) => object('v1', `Pod/${pod}`)))
            : (asked.filter((one) => one === plural).length > 1 ? settled : objects).filter((one) => one.kind === kind);
      return found.map(keep);
    },
  };
  const facts = await readIpam(cluster, contextOf(), { datastore: 'api' }, async () => ({
    ...{ nodes, pods: new Set(pods) },
    ...(addressed ? { addressed } : {}),
  }));
  const moves = facts?.moves.map(({ kind, text, detail }) => `${kind}: ${text}: ${detail}`) ?? [];
  return { faults: facts?.faults.map(({ kind, text, detail }) => `${kind}: ${text}: ${detail}`) ?? [], moves, asked };
}

describe('the bookkeeping of addresses', () => {
  it('is read in two lists where it is in order, and finds nothing wrong', async () => {
    const { faults, asked } = await read({
      objects: [block('10.0.1.0/26', { 0: { more: { type: 'vxlanTunnelAddress' } }, 5: { pod: 'a/web' } }), affinity('10.0.1.0/26', 'n1')],
      nodes: [node('n1', { 'projectcalico.org/IPv4VXLANTunnelAddr': '10.0.1.0' })],
      pods: ['a/web'],
    });
    assert.deepEqual(faults, []);
    assert.deepEqual(asked, ['ipamblocks', 'blockaffinities']);
  });

  it('has blocks that two nodes take addresses from', async () => {
    const { faults, moves } = await read({
      objects: [
        ...[affinity('10.0.1.0/26', 'n2'), affinity('10.0.1.0/26', 'n1')],
        // These give no address: one is given up, one only asked for, one deleted.
        ...[affinity('10.0.2.0/26', 'n1'), affinity('10.0.2.0/26', 'n2', { state: 'pendingDeletion' })],
        ...[affinity('10.0.3.0/26', 'n1'), affinity('10.0.3.0/26', 'n2', { state: 'pending' })],
        ...[affinity('10.0.4.0/26', 'n1'), affinity('10.0.4.0/26', 'n2', { deleted: 'true' })],
      ],
    });
    assert.deepEqual(faults, [
      'twice-claimed: block 10.0.1.0/26: claimed by n1 and n2: BlockAffinity/n1-10-0-1-0-26, BlockAffinity/n2-10-0-1-0-26',
    ]);
    assert.deepEqual(moves, [
      'half-released: BlockAffinity/n2-10-0-2-0-26: 10.0.2.0/26: its release was begun and never ended',
      'half-released: BlockAffinity/n2-10-0-3-0-26: 10.0.3.0/26: its node asked for it, and never confirmed it',
      'half-released: BlockAffinity/n2-10-0-4-0-26: 10.0.4.0/26: is marked as deleted, and is still there',
    ]);
  });

  it('has what a node that is gone left, and blocks that are half deleted', async () => {
    const deleted = block('10.0.3.0/26', {});
    const ofGone = (...given: Parameters<typeof block>) => {
      const one = block(...given);
      return { ...one, spec: { ...(one.spec as object), affinity: 'host:gone' } };
    };
    const { faults, moves } = await read({
      objects: [
        ...[affinity('10.0.1.0/26', 'gone'), ofGone('10.0.1.0/26', {})],
        // Of another check: its addresses are still given.
        ...[affinity('10.0.2.0/26', 'gone'), ofGone('10.0.2.0/26', { 5: { node: 'n1', pod: 'a/web' } })],
        { ...deleted, spec: { ...(deleted.spec as object), deleted: true } },
        // For addresses of services: no node's.
        affinity('10.9.0.0/26', 'load-balancer', { type: 'virtual' }),
      ],
      pods: ['a/web'],
    });
    assert.deepEqual(faults, []);
    assert.deepEqual(moves, [
      'half-released: BlockAffinity/gone-10-0-1-0-26: 10.0.1.0/26: node gone is gone',
      'half-released: IPAMBlock/10-0-3-0-26: 10.0.3.0/26: is marked as deleted, and is still there',
    ]);
  });

  it('does not count a claim that was under way while the lists were read', async () => {
    const { moves, asked } = await read({
      objects: [affinity('10.0.1.0/26', 'n1', { state: 'pending' })],
      settled: [affinity('10.0.1.0/26', 'n1')],
    });
    assert.deepEqual(moves, []);
    assert.deepEqual(asked, ['ipamblocks', 'blockaffinities', 'ipamblocks', 'blockaffinities', 'nodes']);
  });

  it('does not count a block that passed from one node to another while the lists were read', async () => {
    const moved = block('10.0.1.0/26', {});
    const { faults, asked } = await read({
      objects: [moved, affinity('10.0.1.0/26', 'n2')],
      settled: [{ ...moved, spec: { ...(moved.spec as object), affinity: 'host:n2' } }, affinity('10.0.1.0/26', 'n2')],
    });
    assert.deepEqual(faults, []);
    assert.deepEqual(asked, ['ipamblocks', 'blockaffinities', 'ipamblocks', 'blockaffinities', 'nodes']);
  });

  it('says nothing of an affinity of another state, or without a node', async () => {
    const { faults, moves } = await read({
      objects: [affinity('10.0.1.0/26', 'n1', { state: 'constructor' }), affinity('10.0.2.0/26', ''), block('10.0.2.0/26', {})],
    });
    assert.deepEqual([faults, moves], [[], []]);
  });

  it('has a block whose own node is not the one that claims it', async () => {
    const { faults } = await read({ objects: [block('10.0.1.0/26', {}), affinity('10.0.1.0/26', 'n2')] });
    assert.deepEqual(faults, [
      'twice-claimed: block 10.0.1.0/26: claimed by n1 and n2: BlockAffinity/n2-10-0-1-0-26, IPAMBlock/10-0-1-0-26',
    ]);
  });

  it('has a tunnel address that is given to a pod, or noted by two nodes', async () => {
    const tunnel = { 'projectcalico.org/IPv4VXLANTunnelAddr': '10.0.1.0' };
    const { faults } = await read({
      objects: [block('10.0.1.0/26', { 0: {}, 1: { pod: 'a/web' } })],
      nodes: [node('n1', tunnel), node('n2', { ...tunnel, 'projectcalico.org/IPv4IPIPTunnelAddr': '10.0.1.1' })],
      pods: ['a/web'],
    });
    assert.deepEqual(faults, [
      'tunnel: n2 10.0.1.1: IPIP tunnel address, but it is given to pod a/web',
      'tunnel: n2 10.0.1.0: VXLAN tunnel address, but it is given to node n1',
    ]);
  });

  it('lacks tunnel addresses that agents noted, of both families, however they are written', async () => {
    const { faults } = await read({
      objects: [block('10.0.1.0/26', { 63: {} }), block('fd00:0:0:1::40/122', { 1: {} })],
      nodes: [
        node('n1', { 'projectcalico.org/IPv4IPIPTunnelAddr': '10.0.1.63', 'projectcalico.org/IPv6VXLANTunnelAddr': 'fd00:0:0:1:0::41' }),
        node('n2', {
          'projectcalico.org/IPv4WireguardInterfaceAddr': '10.0.2.0',
          'projectcalico.org/IPv6VXLANTunnelAddr': 'fd00:0:0:1::80',
        }),
      ],
    });
    assert.deepEqual(faults, [
      'tunnel: n2 fd00:0:0:1::80: IPv6 VXLAN tunnel address without an allocation',
      'tunnel: n2 10.0.2.0: WireGuard tunnel address without an allocation',
    ]);
  });

  it('has allocations whose pod or node is gone', async () => {
    const { faults, asked } = await read({
      objects: [
        block('10.0.1.0/26', { 1: { pod: 'a/gone' }, 2: { pod: 'a/here' }, 3: { node: 'n9', pod: 'a/x' }, 4: { node: 'n9' } }),
        ...['h1', 'h2', 'h3', 'h4'].map(handle),
      ],
      pods: ['a/here'],
    });
    assert.deepEqual(faults, [
      'left-over: 10.0.1.1 a/gone: given to pod a/gone, which is gone',
      'left-over: 10.0.1.3 a/x: given to pod a/x of node n9, which is gone',
      'left-over: 10.0.1.4: given to a tunnel of node n9, which is gone',
    ]);
    assert.equal(asked.at(-1), 'ipamhandles', 'handles are read last');
  });

  it('blames no pod that was created or deleted while the lists were read, and no virtual machine that moved', async () => {
    const { faults } = await read({
      objects: [
        block('10.0.1.0/26', { 1: { pod: 'a/new' }, 2: { pod: 'a/deleted' }, 3: { pod: 'a/launcher', more: { 'vmi-name': 'vm' } } }),
        ...['h1', 'h3'].map(handle),
      ],
      later: ['a/new'],
    });
    assert.deepEqual(faults, []);
  });

  const pod = (name: string, ip: string, more: object = {}, metadata: object = {}) =>
    object('v1', `Pod/${name}`, { metadata, spec: {}, status: { podIP: ip, ...more } });

  it('lacks addresses of pods that another plugin has given, as they are at a second look', async () => {
    const { moves, asked } = await read({
      objects: [block('10.0.1.0/26', { 5: { pod: 'a/booked' } })],
      pods: ['a/booked', 'a/old', 'a/gone', 'a/new', 'a/chosen', 'a/outside'],
      addressed: {
        pods: [
          { pod: 'a/booked', addresses: ['10.0.1.5'] },
          { pod: 'a/old', addresses: ['10.0.1.9', 'fd00:0::9'] },
          { pod: 'a/gone', addresses: ['10.0.1.10'] },
          { pod: 'a/chosen', addresses: ['10.0.1.12'] },
          { pod: 'a/outside', addresses: ['192.168.7.1'] },
        ],
        pools: ['10.0.0.0/16', 'fd00::/64', 'no network'],
      },
      again: [
        pod('a/booked', '10.0.1.5'),
        pod('a/old', '10.0.1.9', { podIPs: [{ ip: '10.0.1.9' }, { ip: 'fd00::9' }] }),
        pod('a/gone', '10.0.1.10', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
        pod('a/new', '10.0.1.11'),
        pod('a/chosen', '10.0.1.12', {}, { annotations: { 'cni.projectcalico.org/ipAddrsNoIpam': '["10.0.1.12"]' } }),
        pod('a/outside', '192.168.7.1'),
      ],
    });
    assert.deepEqual(moves, ['unbooked: Pod/a/old: 10.0.1.9 is given in no block', 'unbooked: Pod/a/old: fd00::9 is given in no block']);
    assert.deepEqual(asked.slice(2), ['ipamblocks', 'pods'], 'a second look, at both');
  });

  it('has blocks with pods in no pool, and asks for nothing more where all have one', async () => {
    const objects = [
      block('10.0.1.0/26', { 5: { pod: 'a/x' } }),
      block('10.9.0.0/26', { 1: { pod: 'a/y' }, 2: { pod: 'a/z' }, 3: {} }),
      block('10.8.0.0/26', { 1: { more: { type: 'vxlanTunnelAddress' } } }),
    ];
    const addressed = { pods: [], pools: ['10.0.0.0/16'] };
    const { moves, asked } = await read({ objects, pods: ['a/x', 'a/y', 'a/z'], addressed });
    assert.deepEqual(moves, ['without-pool: IPAMBlock/10-9-0-0-26: 10.9.0.0/26 has 2 addresses of pods and lies in no pool']);
    assert.deepEqual(asked, ['ipamblocks', 'blockaffinities']);
  });

  it('is not asked for where it is in a key-value store', async () => {
    const nothing = () => assert.fail('the cluster was asked');
    const cluster = { discover: nothing, list: nothing };
    assert.equal(await readIpam(cluster, contextOf(), { datastore: 'kvstore' }, nothing), undefined);
  });

  it('says nothing of blocks that cannot be read', async () => {
    const broken = ['', 'x', '10.0.0.0', 'fd00::/x'].map((cidr) => resource('IPAMBlock/x', { cidr, allocations: [0], attributes: 'none' }));
    assert.deepEqual((await read({ objects: broken })).faults, []);
  });
});
