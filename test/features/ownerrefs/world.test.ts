import assert from 'node:assert/strict';
import { fatesOf, type OwnersOfKind, type UidRules } from '../../../src/features/ownerrefs/owner-fate.ts';
import { readOwnerWorld, uidRules, unshownOwner } from '../../../src/features/ownerrefs/world.ts';
import type { Installation } from '../../../src/kernel/installation.ts';
import type { Kind, KubeObject, OwnerReference } from '../../../src/kernel/object.ts';
import type { ClusterReader } from '../../../src/kernel/ports.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';

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

/** What becomes of a reference to policy `web`, and what could not be read of its kind. */
async function fateOf(
  uid: string,
  { shows, keeps }: { readonly shows: readonly KubeObject[]; readonly keeps: readonly KubeObject[] },
  {
    name = 'web',
    kinds = [served, stored],
    ...more
  }: Partial<UidRules> & { readonly name?: string; readonly kinds?: readonly Kind[] } = {},
) {
  const cluster: Pick<ClusterReader, 'discover' | 'list'> = {
    discover: async () => ({ kinds, failed: [] }),
    list: async ({ group }) => (group === stored.group ? keeps : shows),
  };
  const owned = { object: DEPENDENT, references: [toOwner(uid, name)] };
  const rules = {
    keepsUids: false,
    targetConverts: true,
    sourceConverts: false,
    renames: true,
    asksStoredNames: true,
    translatesNotes: true,
    ...more,
  };
  const { world, unread, unreadOwners } = await readOwnerWorld(cluster, contextOf({}, calico), [owned], rules);
  const [fate] = fatesOf(owned, world).fates;
  const nameAfter = fate?.nameAfter;
  return {
    becomes: [fate?.fate, fate?.breaks, fate?.owner.backingUid],
    nameAfter,
    madeAt: fate?.owner.madeAt,
    unread: unread.map(({ because }) => because),
    unreadOwners,
  };
}

describe('what becomes of a reference', () => {
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
        const rules = { sourceConverts: converts };
        assert.deepEqual((await fateOf(asServed(PREFIXED), parts, rules)).becomes, ['re-created', true, PREFIXED]);
        assert.deepEqual((await fateOf(asServed(PLAIN), parts, rules)).becomes, [converts ? 'kept' : 'converted', !converts, PLAIN]);
        assert.deepEqual((await fateOf('of-neither', parts, rules)).becomes.slice(1), [false, PLAIN]);
      });

  it('tells a policy that the migration stored anew from one that somebody made', async () => {
    const made = (name: string, uid: string, at: string): KubeObject => {
      const one = policy(name, uid);
      const annotations = { 'projectcalico.org/metadata': '{"name":"web","creationTimestamp":"2026-01-01T10:00:00Z"}' };
      return { ...one, metadata: { ...one.metadata, annotations, creationTimestamp: at } };
    };
    const anew = async (keeps: KubeObject) => {
      const cluster: Pick<ClusterReader, 'discover' | 'list'> = {
        discover: async () => ({ kinds: [served, stored], failed: [] }),
        list: async ({ group }, { keep = (one: KubeObject) => one } = {}) => (group === stored.group ? [keep(keeps)] : []),
      };
      const owned = { object: DEPENDENT, references: [toOwner(PLAIN, 'web')] };
      const rules = { keepsUids: false, targetConverts: true, renames: true, asksStoredNames: true, translatesNotes: true };
      const { world } = await readOwnerWorld(cluster, contextOf({}, calico), [owned], rules);
      return world.kinds[KIND]?.stored?.get('/web')?.anew ?? false;
    };
    const [first, later] = ['2026-01-01T10:00:00Z', '2026-01-02T10:00:00Z'];
    assert.deepEqual(
      [await anew(made('web', PLAIN, later)), await anew(made('web', PLAIN, first)), await anew(made('default.web', PREFIXED, later))],
      [true, false, false],
    );
  });

  it('is noted with the time at which the policy was made, which its copy is known by', async () => {
    const { metadata, ...rest } = policy('default.web', PREFIXED);
    const keeps = [{ ...rest, metadata: { ...metadata, creationTimestamp: '2026-01-01T10:00:00Z' } }];
    const parts = { shows: [policy('web', PREFIXED)], keeps };
    assert.equal((await fateOf(PREFIXED, parts)).madeAt, '2026-01-01T10:00:00Z');
  });

  it('does not go by a policy of another name, though this has the UID', async () => {
    const parts = { shows: twins.map(({ metadata }) => policy('web', metadata.uid ?? '')), keeps: twins };
    assert.deepEqual((await fateOf(PREFIXED, parts, { name: 'other' })).becomes, ['gone', false, undefined]);
  });

  it('is that of the UID alone, if its policy is of a tier whose policies keep their names', async () => {
    const keeps = [{ ...policy('sec.web', PLAIN), spec: { tier: 'sec' } }];
    const older = { asksStoredNames: false, renames: false };
    assert.deepEqual((await fateOf(PLAIN, { shows: [policy('web', PLAIN)], keeps }, older)).becomes, ['converted', true, PLAIN]);
    assert.deepEqual((await fateOf(PLAIN, { shows: [policy('web', PLAIN)], keeps })).becomes, ['unaddressed', true, PLAIN]);
  });

  it('is that its name no longer finds the policy, if this stays stored under its old one, though its UID is kept', async () => {
    const parts = { shows: [policy('web', convertUid(PREFIXED) ?? '')], keeps: [policy('default.web', PREFIXED)] };
    const uid = convertUid(PREFIXED) ?? '';
    const { becomes, nameAfter } = await fateOf(uid, parts, { renames: false });
    assert.deepEqual([becomes, nameAfter], [['unaddressed', true, PREFIXED], undefined]);
    assert.deepEqual((await fateOf(uid, parts, { renames: false, asksStoredNames: false })).becomes, ['kept', false, PREFIXED]);
  });

  for (const [title, converts] of [
    ['UID', false],
    ['converted UID', true],
  ] as const)
    it(`is the same for one that was written by hand with the prefix, and that the old server shows without it (${title})`, async () => {
      const { metadata, ...rest } = policy('default.web', PREFIXED);
      const uid = converts ? (convertUid(PREFIXED) ?? '') : PREFIXED;
      const parts = { shows: [policy('web', uid)], keeps: [{ ...rest, metadata: { name: metadata.name, uid: PREFIXED } }] };
      const rules = { sourceConverts: converts };
      const { becomes, nameAfter } = await fateOf(uid, parts, rules);
      assert.deepEqual([becomes, nameAfter], [['unaddressed', true, PREFIXED], 'default.web']);
      assert.deepEqual((await fateOf(uid, parts, { ...rules, asksStoredNames: false })).becomes, [
        converts ? 'kept' : 'converted',
        !converts,
        PREFIXED,
      ]);
    });

  it('is that of the one written by hand, which it names, where the old server shows two of that name', async () => {
    const { metadata, ...rest } = policy('default.web', PREFIXED);
    const keeps = [{ ...rest, metadata: { name: metadata.name, uid: PREFIXED } }, policy('web', PLAIN)];
    const parts = { shows: [policy('web', PREFIXED), policy('web', PLAIN)], keeps };
    const [byHand, other] = [await fateOf(PREFIXED, parts), await fateOf(PLAIN, parts)];
    assert.deepEqual([byHand.becomes, byHand.nameAfter], [['unaddressed', true, PREFIXED], 'default.web']);
    assert.deepEqual([other.becomes, other.nameAfter], [['converted', true, PLAIN], undefined]);
  });

  it('is not known where the API server of the service is away: its kinds are not served', async () => {
    const { becomes, unread } = await fateOf(PLAIN, { shows: [], keeps: [policy('web', PLAIN)] }, { kinds: [stored] });
    assert.deepEqual([becomes.slice(0, 2), unread], [['unknown', true], ['the server does not serve it']]);
  });

  it('is not known while the API shows this account nothing of a policy that is stored', async () => {
    const { becomes, unread, unreadOwners } = await fateOf(PLAIN, { shows: [], keeps: [policy('web', PLAIN)] });
    assert.deepEqual(becomes.slice(0, 2), ['unknown', true]);
    assert.deepEqual(unread, ['its list does not show GlobalNetworkPolicy/web, which is stored']);
    assert.deepEqual(unreadOwners, ['projectcalico.org|GlobalNetworkPolicy']);
  });

  it('does not go by what is stored in a cluster whose datastore is another', async () => {
    const { becomes, unread } = await fateOf(PLAIN, { shows: [], keeps: [policy('web', PLAIN)] }, { keepsUids: true });
    assert.deepEqual([becomes.slice(0, 2), unread], [['gone', false], []]);
  });

  it('is the end of it where the owner is neither shown nor stored', async () => {
    const { becomes, unread } = await fateOf(PLAIN, { shows: [], keeps: [] });
    assert.deepEqual([becomes, unread], [['gone', false, undefined], []]);
  });
});

describe('what the way to the target does to UIDs', () => {
  const agent = { kind: 'DaemonSet', namespace: 'kube-system', name: 'canal', container: 'calico-node' } as const;
  const ruled = (release: string, found: Partial<Installation> = {}, holdPolicyMigration = false) => {
    const context = contextOf({ release, holdPolicyMigration }, calico);
    const { renames, asksStoredNames } = uidRules('v3.29.0', { datastore: 'api', ...found } as Installation, context);
    return { renames, asksStoredNames };
  };
  for (const [title, rules, wanted] of [
    ['is a new name for policies, and one under which alone they are found', ruled('v3.32.1'), [true, true]],
    ['is no new name where it is held, and still only that one finds them', ruled('v3.32.1', {}, true), [false, true]],
    ['is no new name beside another CNI, and still only that one finds them', ruled('v3.32.1', { agent }), [false, true]],
    ['is neither in releases before', ruled('v3.31.7'), [false, false]],
  ] as const)
    it(title, () => assert.deepEqual([rules.renames, rules.asksStoredNames], wanted));
});

describe('what becomes of a reference to an owner that is stored in no CRD', () => {
  const profile: Kind = { group: 'projectcalico.org', version: 'v3', kind: 'Profile', plural: 'profiles', namespaced: false };
  const found = { datastore: 'api' } as Installation;
  for (const [source, wanted] of [
    ['v3.27.4', ['converted', true]],
    ['v3.27.5', ['kept', false]],
    ['v3.28.0', ['kept', false]],
  ] as const)
    it(`is told by the release alone: ${wanted[0]} from ${source}`, async () => {
      const cluster: Pick<ClusterReader, 'discover' | 'list'> = {
        discover: async () => ({ kinds: [profile], failed: [] }),
        list: async () => [{ apiVersion: 'projectcalico.org/v3', kind: 'Profile', metadata: { name: 'kns.shop', uid: PLAIN } }],
      };
      const reference = { apiVersion: 'projectcalico.org/v3', kind: 'Profile', name: 'kns.shop', uid: PLAIN };
      const owned = { object: DEPENDENT, references: [reference] };
      const context = contextOf({}, calico);
      const { world } = await readOwnerWorld(cluster, context, [owned], uidRules(source, found, context));
      const [fate] = fatesOf(owned, world).fates;
      assert.deepEqual([fate?.fate, fate?.breaks], wanted);
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
