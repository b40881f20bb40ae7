import assert from 'node:assert/strict';
import { fatesOf, type OwnersOfKind } from '../../../src/features/ownerrefs/owner-fate.ts';
import type { Way } from '../../../src/features/ownerrefs/removal-rule.ts';
import { readOwnerWorld, unshownOwner } from '../../../src/features/ownerrefs/world.ts';
import type { Kind, KubeObject, OwnerReference } from '../../../src/kernel/object.ts';
import type { ClusterReader } from '../../../src/kernel/ports.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';
import { WHOLE_WAY } from '../../support/owner-way.ts';

const KIND = 'GlobalNetworkPolicy';
const [PREFIXED, PLAIN] = ['30316465-6365-4463-ad63-3564622d3638', '40316465-6365-4463-ad63-3564622d3638'];
const kindIn = (group: string, version: string): Kind => ({
  group,
  version,
  kind: KIND,
  plural: 'globalnetworkpolicies',
  namespaced: false,
});
const [served, stored] = [kindIn('projectcalico.org', 'v3'), kindIn('crd.projectcalico.org', 'v1')];

const policy = (name: string, uid: string): KubeObject => ({
  apiVersion: '',
  kind: KIND,
  metadata: { name, uid, annotations: { 'projectcalico.org/metadata': '{"name":"web"}' } },
  spec: {},
});
const toOwner = (uid: string, name: string): OwnerReference => ({ apiVersion: 'projectcalico.org/v3', kind: KIND, name, uid });

/** Why a reference to policy `web` is removed, whom it names, and what could not be read of its kind. */
async function fateOf(
  uid: string,
  { shows, keeps }: { readonly shows: readonly KubeObject[]; readonly keeps: readonly KubeObject[] },
  { name = 'web', kinds = [served, stored], ...more }: Partial<Way> & { readonly name?: string; readonly kinds?: readonly Kind[] } = {},
) {
  const cluster: Pick<ClusterReader, 'discover' | 'list'> = {
    discover: async () => ({ kinds, failed: [] }),
    list: async ({ group }) => (group === stored.group ? keeps : shows),
  };
  const owned = { object: DEPENDENT, references: [toOwner(uid, name)] };
  const { world, unread, unreadOwners } = await readOwnerWorld(cluster, contextOf({}, calico), [owned], { ...WHOLE_WAY, ...more });
  const [fate] = fatesOf(owned, world).fates;
  return {
    removal: [fate?.removal, fate?.owner.backingUid],
    madeAt: fate?.owner.madeAt,
    isUnread: fate?.isUnread === true,
    unread: unread.map(({ because }) => because),
    unreadOwners,
  };
}
/** A way on which nothing happens to policies. */
const OLDER = { asksStoredNames: false, crossesRenaming: false, renames: false };

describe('what is removed', () => {
  const twins = [policy('default.web', PREFIXED), policy('web', PLAIN)];
  for (const [title, converts] of [
    ['is stored under two names', false],
    ['is stored under two names, where the installed release converts UIDs', true],
  ] as const)
    for (const order of ['one way', 'the other'])
      it(`goes by the one that it names, if its policy ${title} (listed ${order})`, async () => {
        const asServed = (uid: string) => (converts ? (convertUid(uid) ?? '') : uid);
        const shown = twins.map(({ metadata }) => policy('web', asServed(metadata.uid ?? '')));
        const turned = <T>(list: readonly T[]) => (order === 'one way' ? list : list.toReversed());
        const parts = { shows: turned(shown), keeps: turned(twins) };
        const way = { changesUids: !converts, changesNotes: !converts };
        assert.deepEqual((await fateOf(asServed(PREFIXED), parts, way)).removal, ['stored-name', PREFIXED]);
        assert.deepEqual((await fateOf(asServed(PLAIN), parts, way)).removal, [converts ? undefined : 'uid-change', PLAIN]);
        assert.deepEqual((await fateOf('of-neither', parts, way)).removal, [undefined, PLAIN]);
      });

  it('is noted with the time at which the policy was made, which its copy is known by', async () => {
    const { metadata, ...rest } = policy('default.web', PREFIXED);
    const keeps = [{ ...rest, metadata: { ...metadata, creationTimestamp: '2026-01-01T10:00:00Z' } }];
    const parts = { shows: [policy('web', PREFIXED)], keeps };
    assert.equal((await fateOf(PREFIXED, parts)).madeAt, '2026-01-01T10:00:00Z');
  });

  it('does not go by a policy of another name, though this has the UID', async () => {
    const parts = { shows: twins.map(({ metadata }) => policy('web', metadata.uid ?? '')), keeps: twins };
    assert.deepEqual((await fateOf(PREFIXED, parts, { name: 'other' })).removal, [undefined, undefined]);
  });

  it('is what names a policy that is stored otherwise, in a tier whose policies keep their names, too', async () => {
    const parts = { shows: [policy('web', PLAIN)], keeps: [{ ...policy('sec.web', PLAIN), spec: { tier: 'sec' } }] };
    assert.deepEqual((await fateOf(PLAIN, parts, OLDER)).removal, ['uid-change', PLAIN]);
    assert.deepEqual((await fateOf(PLAIN, parts)).removal, ['stored-name', PLAIN]);
  });

  for (const [tier, isPending] of [
    ['default', true],
    ['sec', false],
  ] as const)
    it(`${isPending ? 'waits' : 'does not wait'} for the renaming of a policy in tier ${tier}`, async () => {
      const keeps = [{ ...policy(`${tier}.web`, PREFIXED), spec: { tier } }];
      const cluster = {
        discover: async () => ({ kinds: [served, stored], failed: [] }),
        list: async ({ group }: Kind) => (group === stored.group ? keeps : []),
      };
      const owned = { object: DEPENDENT, references: [toOwner(PREFIXED, 'web')] };
      const { world } = await readOwnerWorld(cluster, contextOf({}, calico), [owned], WHOLE_WAY);
      assert.equal(world.kinds[KIND]?.stored?.get('/web')?.renamePending, isPending);
    });

  it('is what names a policy that is stored otherwise though no UID changes', async () => {
    const uid = convertUid(PREFIXED) ?? '';
    const parts = { shows: [policy('web', uid)], keeps: [policy('default.web', PREFIXED)] };
    const converted = { changesUids: false, changesNotes: false };
    assert.deepEqual((await fateOf(uid, parts, converted)).removal, ['stored-name', PREFIXED]);
    assert.deepEqual((await fateOf(uid, parts, { ...converted, ...OLDER })).removal, [undefined, PREFIXED]);
  });

  for (const [title, converts] of [
    ['UID', false],
    ['converted UID', true],
  ] as const)
    it(`is what names one written by hand with the prefix, which the old server shows without it (${title})`, async () => {
      const { metadata, ...rest } = policy('default.web', PREFIXED);
      const uid = converts ? (convertUid(PREFIXED) ?? '') : PREFIXED;
      const parts = { shows: [policy('web', uid)], keeps: [{ ...rest, metadata: { name: metadata.name, uid: PREFIXED } }] };
      assert.deepEqual((await fateOf(uid, parts, { changesUids: !converts })).removal, ['stored-name', PREFIXED]);
    });

  it('goes by the one written by hand, which it names, where the old server shows two of that name', async () => {
    const { metadata, ...rest } = policy('default.web', PREFIXED);
    const keeps = [{ ...rest, metadata: { name: metadata.name, uid: PREFIXED } }, policy('web', PLAIN)];
    const parts = { shows: [policy('web', PREFIXED), policy('web', PLAIN)], keeps };
    const [byHand, other] = [await fateOf(PREFIXED, parts), await fateOf(PLAIN, parts)];
    assert.deepEqual(
      [byHand.removal, other.removal],
      [
        ['stored-name', PREFIXED],
        ['uid-change', PLAIN],
      ],
    );
  });

  it('is what nobody could read, where the API server of the service is away: its kinds are not served', async () => {
    const { removal, isUnread, unread } = await fateOf(PLAIN, { shows: [], keeps: [policy('web', PLAIN)] }, { kinds: [stored] });
    assert.deepEqual([removal[0], isUnread, unread], ['uid-change', true, ['the server does not serve it']]);
  });

  it('is what nobody could read, while the API shows this account nothing of a policy that is stored', async () => {
    const { removal, isUnread, unread, unreadOwners } = await fateOf(PLAIN, { shows: [], keeps: [policy('web', PLAIN)] });
    assert.deepEqual([removal[0], isUnread], ['uid-change', true]);
    assert.deepEqual(unread, ['its list does not show GlobalNetworkPolicy/web, which is stored']);
    assert.deepEqual(unreadOwners, ['projectcalico.org|GlobalNetworkPolicy']);
  });

  it('does not go by what is stored in a cluster whose datastore is another', async () => {
    const kvstore = { keepsUids: true };
    const { removal, unread } = await fateOf(PLAIN, { shows: [], keeps: [policy('web', PLAIN)] }, kvstore);
    assert.deepEqual([removal, unread], [[undefined, undefined], []]);
    const shown = { shows: [policy('web', PLAIN)], keeps: [policy('web', PREFIXED)] };
    assert.deepEqual((await fateOf(PLAIN, shown, kvstore)).removal, ['stored-name', undefined]);
    assert.deepEqual((await fateOf(PLAIN, shown, { ...kvstore, ...OLDER })).removal, ['key-value', undefined]);
  });

  it('is nothing where the owner is neither shown nor stored', async () => {
    const { removal, unread } = await fateOf(PLAIN, { shows: [], keeps: [] });
    assert.deepEqual([removal, unread], [[undefined, undefined], []]);
  });
});

const to = (apiVersion: string, kind: string, name: string): OwnerReference => ({ apiVersion, kind, name, uid: 'u' });
const V3 = 'projectcalico.org/v3';
const storedAs = (place: string, name: string) => new Map([[place, { name, storedName: name, uid: 'u', renamePending: false }]]);
const asked = (owners: OwnersOfKind, ...references: readonly OwnerReference[]) =>
  unshownOwner({ apiGroup: 'projectcalico.org', kind: 'IPPool' }, owners, [{ object: DEPENDENT, references }]);

describe('an owner that is stored and not shown', () => {
  const hidden: OwnersOfKind = { namespaced: false, served: new Map(), stored: storedAs('/pool', 'pool') };

  it('is named', () => {
    assert.equal(asked(hidden, to(V3, 'IPPool', 'pool')), 'IPPool/pool');
  });

  it('is sought in the namespace of the object, where its kind has namespaces', () => {
    const spaced: OwnersOfKind = { namespaced: true, served: new Map(), stored: storedAs('shop/pool', 'pool') };
    assert.equal(asked(spaced, to(V3, 'IPPool', 'pool')), 'IPPool/shop/pool');
  });

  it('is of no concern where nobody names it in the v3 group, or it is no more, or one of the two was not read', () => {
    assert.equal(asked(hidden, to('crd.projectcalico.org/v1', 'IPPool', 'pool'), to(V3, 'NetworkSet', 'pool')), undefined);
    assert.equal(asked(hidden, to(V3, 'IPPool', 'gone')), undefined);
    assert.equal(asked({ namespaced: false, stored: storedAs('/pool', 'pool') }, to(V3, 'IPPool', 'pool')), undefined);
    assert.equal(asked({ namespaced: false, served: new Map() }, to(V3, 'IPPool', 'pool')), undefined);
  });
});
