import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { type Kind, type KubeObject, refOf } from '../../src/kernel/object.ts';
import type { ListOptions } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const profile: Profile = { ...netsvc, ipam: { ...(calico.ipam ?? assert.fail('no names')), plugin: 'netsvc-ipam' } };
const GROUP = netsvc.crdGroup;
const TYPES = Object.entries({ ipamblocks: 'IPAMBlock', blockaffinities: 'BlockAffinity', ipamhandles: 'IPAMHandle' });
const TUNNEL = `${netsvc.apiGroup}/IPv4VXLANTunnelAddr`;

const definition = ([plural, kind]: readonly [string, string]): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});

/** A cluster whose nodes have tunnel addresses 10.0.N.0 of their blocks; `loose`: of these the block says nothing. */
async function cluster({ loose = [] }: { readonly loose?: readonly string[] } = {}) {
  const scenario = await installedSandbox({ nodes: 3, cli: false });
  const { registry, store } = scenario.cluster;
  for (const type of TYPES) registry.create(K.CustomResourceDefinition, definition(type), { manager: 'test' });
  const kindOf = (index: number) => {
    const [plural = '', kind = ''] = TYPES[index] ?? [];
    return { group: GROUP, version: 'v1', kind, plural, namespaced: false };
  };
  for (const [index, node] of store.list(K.Node).entries()) {
    const { name } = node.metadata;
    const cidr = `10.0.${index}.0/26`;
    const given = loose.includes(name) ? null : 0;
    const attributes = [{ handle_id: `vxlan-${name}`, secondary: { node: name, type: 'vxlanTunnelAddress' } }];
    const spec = { cidr, affinity: `host:${name}`, allocations: [given], attributes };
    const create = (which: number, metadata: { readonly name: string }, content: object) => {
      const kind = kindOf(which);
      registry.create(kind, { apiVersion: `${GROUP}/v1`, kind: kind.kind, metadata, spec: content }, { manager: 'agent' });
    };
    create(0, { name: `10-0-${index}-0-26` }, spec);
    create(1, { name: `${name}-10-0-${index}-0-26` }, { cidr, node: name, state: 'confirmed', deleted: 'false' });
    const patch = [{ op: 'add', path: '/metadata/annotations', value: { [TUNNEL]: `10.0.${index}.0` } }] as const;
    await scenario.cluster.patch(K.Node, refOf(node), patch, 'agent');
  }
  return { scenario, bench: sandboxCommand(scenario, profile), kindOf };
}

describe('the bookkeeping of addresses around an upgrade', () => {
  it('is kept by the run, and what went wrong since is an error of verify', async () => {
    const { scenario, bench, kindOf } = await cluster({ loose: ['node-01'] });
    assert.equal(await bench.run('preflight'), 0, bench.err());
    assert.match(bench.out(), /NS-511 1 tunnel address without an allocation: node-01 10\.0\.0\.0/);
    assert.equal(await bench.run('run', '--yes', '--skip', 'cli'), 0, bench.err());
    assert.equal(await bench.run('verify'), 0, bench.err());
    const { store } = scenario.cluster;
    const block = store.get(kindOf(0), '10-0-1-0-26') ?? assert.fail('no block');
    await scenario.cluster.patch(kindOf(0), refOf(block), [{ op: 'replace', path: '/spec/allocations/0', value: null }], 'agent');
    assert.equal(await bench.run('verify'), 3);
    assert.match(bench.out(), /NS-314 since the upgrade began: 1 tunnel address without an allocation: node-02 10\.0\.1\.0$/m);
  });

  it('is kept by whatever applies the release, where no backup was taken: stage by stage is compared as well', async () => {
    const { scenario, bench, kindOf } = await cluster({ loose: ['node-01'] });
    for (const stage of ['ownerrefs strip', 'crds', 'apply', 'wait'])
      assert.equal(await bench.run(...stage.split(' '), ...(stage === 'wait' ? [] : ['--yes'])), 0, bench.err());
    await bench.run('verify');
    assert.doesNotMatch(bench.out(), /× NS-314/);
    const { store } = scenario.cluster;
    const block = store.get(kindOf(0), '10-0-1-0-26') ?? assert.fail('no block');
    await scenario.cluster.patch(kindOf(0), refOf(block), [{ op: 'replace', path: '/spec/allocations/0', value: null }], 'agent');
    assert.equal(await bench.run('verify'), 3);
    assert.match(bench.out(), /NS-314 since the upgrade began: 1 tunnel address without an allocation: node-02 10\.0\.1\.0$/m);
  });

  it('is kept by a run without a backup, too', async () => {
    const { scenario, bench, kindOf } = await cluster();
    assert.equal(await bench.run('run', '--yes', '--skip', 'cli', '--skip', 'backup'), 0, bench.err());
    const { store } = scenario.cluster;
    const block = store.get(kindOf(0), '10-0-1-0-26') ?? assert.fail('no block');
    await scenario.cluster.patch(kindOf(0), refOf(block), [{ op: 'replace', path: '/spec/allocations/0', value: null }], 'agent');
    assert.equal(await bench.run('verify'), 3);
    assert.match(bench.out(), /NS-314 since the upgrade began: 1 tunnel address/);
  });

  it('is not kept by a stage that goes on with what it has begun: agents may have asked for their addresses since', async () => {
    const { scenario, bench } = await cluster();
    const { faults } = scenario.cluster;
    const lists: string[] = [];
    const list = scenario.cluster.list.bind(scenario.cluster);
    Object.assign(scenario.cluster, {
      list: (kind: Kind, options: ListOptions = {}) => {
        // The search for owner references lists metadata of every kind.
        if (!options.ownedBy && !options.metadataOnly) lists.push(kind.plural);
        return list(kind, options);
      },
    });
    faults.plan({ at: faults.writes + 24, kill: 'before' });
    assert.notEqual(await bench.run('apply', '--yes'), 0);
    faults.revive();
    scenario.state.holder = undefined;
    const begun = lists.length;
    assert.equal(await bench.run('apply', '--yes'), 0, bench.err());
    assert.deepEqual(
      lists.slice(begun).filter((one) => one === 'ipamblocks'),
      [],
    );
  });
});
