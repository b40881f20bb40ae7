import assert from 'node:assert/strict';
import { followOwners } from '../../../src/features/ownerrefs/references.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { contextOf, installation, object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const v3 = 'projectcalico.org/v3';
const networkSet: Kind = { group: 'projectcalico.org', version: 'v3', kind: 'NetworkSet', plural: 'networksets', namespaced: true };
const stored: Kind = { ...networkSet, group: 'crd.projectcalico.org', version: 'v1' };
const sets: Kind = { ...networkSet, kind: 'GlobalNetworkSet', plural: 'globalnetworksets', namespaced: false };
const owner = (name: string, uid: string, kind = 'NetworkSet', apiVersion = v3) => ({ apiVersion, kind, name, uid });
const dependent = (text: string, ...ownerReferences: readonly ReturnType<typeof owner>[]) =>
  object('v1', text, { metadata: { ownerReferences } });
const set = (text: string, uid: string, apiVersion = v3) => object(apiVersion, text, { metadata: { uid } });

async function followed(objects: readonly KubeObject[], parts: Parameters<typeof clusterOf>[1] = {}, found = installation) {
  const { cluster } = clusterOf(objects, { kinds: [K.ConfigMap, K.Namespace, networkSet, sets], ...parts });
  const { references, dangling, unread } = await followOwners(cluster, contextOf(), found);
  return { references, lost: dangling.map(({ text, detail }) => `${text}: ${detail}`), unread };
}

describe('references followed to their owners as garbage collection does', () => {
  const x = dependent('ConfigMap/a/x', owner('s', 'u1'));
  const gone = ['ConfigMap/a/x: owner projectcalico.org/v3 NetworkSet/s has no longer the UID u1'];

  for (const [title, objects, lost] of [
    ['find the owner of the same namespace', [x, set('NetworkSet/a/s', 'u1')], []],
    ['do not find one with another UID', [x, set('NetworkSet/a/s', 'u2')], gone],
    ['do not find one in another namespace', [x, set('NetworkSet/b/s', 'u1')], gone],
    ['do not find one by another name', [x, set('NetworkSet/a/other', 'u1')], gone],
    [
      'find one without a namespace',
      [dependent('ConfigMap/a/x', owner('s', 'u1', 'GlobalNetworkSet')), set('GlobalNetworkSet/s', 'u1')],
      [],
    ],
    ['are ignored of a cluster-wide object where the owner would have a namespace', [dependent('Namespace/a', owner('s', 'u1'))], []],
  ] as const)
    it(title, async () => assert.deepEqual(await followed(objects), { references: 1, lost, unread: [] }));

  it('are none where nothing is owned', async () => {
    assert.deepEqual(await followed([set('NetworkSet/a/s', 'u1')]), { references: 0, lost: [], unread: [] });
  });

  it('lead to a kind that nobody serves any more', async () => {
    const because = 'the server does not serve it';
    assert.deepEqual(await followed([x], { kinds: [K.ConfigMap] }), {
      ...{ references: 1, lost: [], unread: [{ kind: 'NetworkSet.projectcalico.org', because }] },
    });
    const ofStored = dependent('ConfigMap/a/x', owner('s', 'u1', 'NetworkSet', 'crd.projectcalico.org/v1'));
    assert.deepEqual((await followed([ofStored])).unread, [{ kind: 'NetworkSet.crd.projectcalico.org', because }]);
  });

  it('take nobody for gone who is stored and only not shown to this account', async () => {
    const kinds = [K.ConfigMap, networkSet, stored];
    const behind = set('NetworkSet/a/s', 'u1', 'crd.projectcalico.org/v1');
    const hidden = await followed([x, behind], { kinds });
    const because = 'its list does not show NetworkSet/a/s, which is stored';
    assert.deepEqual([hidden.lost, hidden.unread], [[], [{ kind: 'networksets.projectcalico.org', because }]]);
    assert.deepEqual((await followed([x, behind], { kinds }, { ...installation, datastore: 'kvstore' })).lost, gone);
    const elsewhere = set('NetworkSet/b/s', 'u2', 'crd.projectcalico.org/v1');
    assert.deepEqual(await followed([x, elsewhere], { kinds }), { references: 1, lost: gone, unread: [] });
  });

  it('ask by name only for policies that are stored under other names than they are shown', async () => {
    const policies: Kind = { ...networkSet, kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies', namespaced: false };
    const crd: Kind = { ...policies, group: 'crd.projectcalico.org', version: 'v1' };
    const kept = { annotations: { 'projectcalico.org/metadata': '{}' } };
    const objects = [
      dependent('ConfigMap/a/x', owner('old', 'u1', 'GlobalNetworkPolicy'), owner('new', 'u2', 'GlobalNetworkPolicy')),
      set('GlobalNetworkPolicy/old', 'u1'),
      set('GlobalNetworkPolicy/new', 'u2'),
      object('crd.projectcalico.org/v1', 'GlobalNetworkPolicy/default.old', { metadata: kept }),
      object('crd.projectcalico.org/v1', 'GlobalNetworkPolicy/new', { metadata: kept }),
    ];
    const found = async (release: string, status?: number) => {
      const { cluster, requests } = clusterOf(objects, { kinds: [K.ConfigMap, policies, crd] });
      const get: typeof cluster.get = async (kind, name, ...more) => {
        const one = await cluster.get(kind, name, ...more);
        if (status !== undefined) throw new ApiFailure(status, 'Forbidden', 'may not be read');
        return name === 'old' ? undefined : one;
      };
      const { dangling, unread } = await followOwners({ ...cluster, get }, contextOf({ release }), installation);
      return {
        asked: requests.filter((one) => one === 'get globalnetworkpolicies.projectcalico.org').length,
        mute: dangling.filter(({ isMute }) => isMute).map(({ detail }) => detail),
        unread: unread.map(({ because }) => because),
      };
    };
    const mute = ['owner projectcalico.org/v3 GlobalNetworkPolicy/old is stored under its old name, and not found by this one'];
    assert.deepEqual(await found(CALICO_TARGET), { asked: 1, mute, unread: [] });
    assert.deepEqual(await found('v3.31.7'), { asked: 0, mute: [], unread: [] }, 'older servers find them');
    assert.deepEqual(await found(CALICO_TARGET, 403), { asked: 1, mute: [], unread: ['may not be read (403)'] });
  });

  it('name a kind that may not be listed', async () => {
    const { unread } = await followed([x], { refuses: { 'networksets.projectcalico.org': 403 } });
    assert.deepEqual(unread, [{ kind: 'networksets.projectcalico.org', because: 'networksets.projectcalico.org refused (403)' }]);
  });
});
