import assert from 'node:assert/strict';
import { entryOf, type JournalObject, type OwnerKnown } from '../../../src/features/ownerrefs/journal-entries.ts';
import { muteOwners } from '../../../src/features/ownerrefs/owner-facts.ts';
import { fatesOf, type OwnersOfKind, type OwnerWorld, type StoredOwner } from '../../../src/features/ownerrefs/owner-fate.ts';
import { type Removal, removalOf, type Standing, type Way } from '../../../src/features/ownerrefs/removal-rule.ts';
import { followRenamed, followViews } from '../../../src/features/ownerrefs/restore-live.ts';
import { otherThanExpected, ownerNow } from '../../../src/features/ownerrefs/restore-owners.ts';
import { changesUids, wayFrom } from '../../../src/features/ownerrefs/uid-change.ts';
import { readOwnerWorld } from '../../../src/features/ownerrefs/world.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { Installation } from '../../../src/kernel/installation.ts';
import type { Kind, KubeObject, OwnerReference } from '../../../src/kernel/object.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const rollbackTo = (release: string): Context => ({ ...contextOf({ release }, calico), intent: { kind: 'rollback' } });
const wayTo = (release: string, found: Partial<Installation> = {}): Way =>
  wayFrom(CALICO_TARGET, { ...installation, ...found }, rollbackTo(release), false);

const alive: Standing = {
  ...{ isStored: false, isNoted: false, isAlive: true, hasNewUid: false, isStoredOtherwise: false, namesStoredUid: false },
};

describe('the rule for owner references in a rollback', () => {
  const rows: readonly [string, Standing, Partial<Record<string, Removal>>][] = [
    ['of a kind', alive, { 'v3.26.4': 'uid-change' }],
    ['of a kind that has the old UID already', { ...alive, hasNewUid: true }, {}],
    ['noted on an object of the service', { ...alive, isNoted: true }, { 'v3.26.4': 'uid-change', 'v3.27.5': 'uid-change' }],
    ['to a stored object', { ...alive, isStored: true }, {}],
    [
      'to a policy that is stored anew',
      { ...alive, isStoredOtherwise: true },
      { 'v3.26.4': 'stored-name', 'v3.27.5': 'stored-name', 'v3.31.7': 'stored-name' },
    ],
    [
      'to a stored policy that is stored anew',
      { ...alive, isStored: true, isStoredOtherwise: true },
      { 'v3.26.4': 'stored-name', 'v3.27.5': 'stored-name', 'v3.31.7': 'stored-name' },
    ],
    ['to what is gone', { ...alive, isAlive: false, isStoredOtherwise: true }, {}],
  ];
  const releases = ['v3.26.4', 'v3.27.5', 'v3.31.7', 'v3.32.0'];
  for (const [what, standing, removals] of rows)
    it(what, () => {
      const found = releases.map((release) => [release, removalOf(standing, wayTo(release))]);
      assert.deepEqual(
        found,
        releases.map((release) => [release, removals[release]]),
      );
      const inStore = removalOf(standing, wayTo('v3.26.4', { datastore: 'kvstore' }));
      assert.equal(inStore, undefined, 'in a key-value store nothing changes');
    });

  for (const [release, changes] of [
    ['v3.26.4', true],
    ['v3.31.7', true],
    ['v3.32.0', false],
  ] as const)
    it(`${changes ? 'is asked' : 'is not asked'} on the way to ${release}, whatever is installed now`, () => {
      for (const source of [undefined, 'v3.26.4', CALICO_TARGET]) assert.equal(changesUids(source, rollbackTo(release)), changes);
    });
});

const [BEFORE, NOW, OTHER] = [
  '30316465-6365-4463-ad63-3564622d3638',
  '41316465-6365-4463-ad63-3564622d3638',
  '52316465-6365-4463-ad63-3564622d3638',
];
const MADE = '2026-01-01T10:00:00Z';
const KIND = 'GlobalNetworkPolicy';
const DEPENDENT: JournalObject = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespace: 'shop', name: 'front', uid: 'd' };

const resource = (group: string, version: string): Kind => ({
  group,
  version,
  kind: KIND,
  plural: 'globalnetworkpolicies',
  namespaced: false,
});
const [v3, crd] = [resource('projectcalico.org', 'v3'), resource('crd.projectcalico.org', 'v1')];

function stored(name: string, { uid = NOW, noted = { creationTimestamp: MADE } as object | null } = {}): KubeObject {
  const annotations = noted === null ? undefined : { 'projectcalico.org/metadata': JSON.stringify(noted) };
  const metadata = { name, uid, creationTimestamp: '2026-11-01T10:00:00Z', ...(annotations ? { annotations } : {}) };
  return { apiVersion: 'crd.projectcalico.org/v1', kind: KIND, metadata, spec: { tier: 'default' } };
}
const shown = (name: string, uid: string): KubeObject => ({
  apiVersion: 'projectcalico.org/v3',
  kind: KIND,
  metadata: { name, uid, creationTimestamp: MADE },
});

describe('a policy that objects name, in a rollback', () => {
  const removed = async (name: string, policies: readonly KubeObject[], group = 'projectcalico.org/v3', uid = convertUid(NOW) ?? '') => {
    const reference: OwnerReference = { apiVersion: group, kind: KIND, name, uid };
    const context = rollbackTo('v3.31.7');
    const { cluster } = clusterOf([...policies, shown('web', convertUid(NOW) ?? '')], { kinds: [v3, crd] });
    const owned = { object: DEPENDENT, references: [reference] };
    const { world } = await readOwnerWorld(cluster, context, [owned], wayTo('v3.31.7'));
    return fatesOf(owned, world).fates[0]?.removal;
  };

  it('loses its references where it is stored under its former name again', async () => {
    assert.equal(await removed('web', [stored('web')]), 'stored-name');
    assert.equal(await removed('web', [stored('web')], 'crd.projectcalico.org/v1', NOW), 'stored-name');
  });

  it('keeps them where it has that name', async () => {
    assert.equal(await removed('web', [stored('default.web')]), undefined);
    assert.equal(await removed('default.web', [stored('default.web')], 'crd.projectcalico.org/v1', NOW), undefined);
  });

  it('loses those of the v3 API where the old release does not find it, and keeps those to the stored one', async () => {
    assert.equal(await removed('web', [stored('web', { noted: null })]), 'stored-name');
    assert.equal(await removed('web', [stored('web', { noted: null })], 'crd.projectcalico.org/v1', NOW), undefined);
  });
});

function worldOf(release: string, now: Partial<StoredOwner> & { readonly served?: readonly [string, string][] }): OwnerWorld {
  const { served, ...more } = now;
  const owner: StoredOwner = { name: 'web', storedName: 'default.web', uid: NOW, renamePending: true, madeAt: MADE, ...more };
  const owners: OwnersOfKind = {
    namespaced: false,
    served: new Map(served ?? [['/web', NOW]]),
    stored: new Map([[`/${owner.name}`, owner]]),
    hidden: new Map(),
  };
  return { apiGroup: 'projectcalico.org', crdGroup: 'crd.projectcalico.org', kinds: { [KIND]: owners }, ...wayTo(release) };
}

/** Of a reference to policy `web`: what it becomes, or what stands against it. */
function back(world: OwnerWorld, known: Partial<OwnerKnown> = {}, group = 'projectcalico.org/v3') {
  const reference: OwnerReference = { apiVersion: group, kind: KIND, name: 'web', uid: convertUid(BEFORE) ?? '' };
  const entry = entryOf(DEPENDENT, [reference], new Map([[0, { name: 'web', backingUid: BEFORE, madeAt: MADE, ...known }]]));
  const [owner] = entry.owners;
  assert.ok(owner);
  const now = ownerNow(owner, world);
  return otherThanExpected(entry, owner, now, world) ?? now;
}

describe('a recorded owner after a rollback', () => {
  it('is the copy under the former name, with the UID that the old API server serves', () => {
    assert.deepEqual(back(worldOf('v3.26.4', {})), { uid: NOW });
    const converted = convertUid(NOW) ?? '';
    assert.deepEqual(back(worldOf('v3.31.7', { served: [['/web', converted]] })), { uid: converted });
    assert.deepEqual(back(worldOf('v3.26.4', {}), {}, 'crd.projectcalico.org/v1'), { uid: NOW, name: 'default.web' });
  });

  it('has its prefix where the old release shows it with it', () => {
    const converted = convertUid(NOW) ?? '';
    assert.deepEqual(back(worldOf('v3.29.0', { served: [['/default.web', converted]] })), { uid: converted, name: 'default.web' });
  });

  const others: readonly [string, Parameters<typeof worldOf>[1], RegExp][] = [
    ['the new API server answers still', { served: [['/web', convertUid(NOW) ?? '']] }, /the stored object gives/],
    ['it was made later', { madeAt: '2026-02-02T00:00:00Z' }, /another policy than the recorded one/],
    ['it has no former name', { storedName: 'web', uid: OTHER, served: [['/web', OTHER]] }, /another policy than the recorded one/],
  ];
  for (const [what, now, because] of others)
    it(`is not taken for it where ${what}`, () => assert.match(String(back(worldOf('v3.26.4', now))), because));

  const mute = async (storedAs: KubeObject, answers: readonly KubeObject[], served: readonly [string, string][]) => {
    const { cluster } = clusterOf([storedAs, ...answers], { kinds: [v3, crd] });
    const entry = entryOf(
      DEPENDENT,
      [{ apiVersion: 'projectcalico.org/v3', kind: KIND, name: 'web', uid: BEFORE }],
      new Map([[0, { name: 'web', backingUid: BEFORE }]]),
    );
    const world = worldOf('v3.26.4', { served, storedName: storedAs.metadata.name });
    return (await muteOwners(cluster, [entry], world)).size;
  };

  it('is asked for by its name, as the garbage collector does', async () => {
    assert.equal(await mute(stored('default.web'), [shown('web', NOW)], [['/web', NOW]]), 0);
    assert.equal(await mute(stored('web'), [], [['/web', NOW]]), 1, 'listed, and not found');
    assert.equal(await mute(stored('default.web'), [shown('web', NOW)], [['/default.web', NOW]]), 0, 'shown with its prefix');
  });
});

describe('a recorded policy that is itself owned, after a rollback', () => {
  const owner: OwnerReference = { apiVersion: 'projectcalico.org/v3', kind: 'Tier', name: 't', uid: 'u' };
  const recorded = (group: string, name: string): JournalObject => ({
    ...{ apiVersion: group, kind: KIND, plural: 'globalnetworkpolicies', name, uid: BEFORE },
    ...(group.startsWith('crd.') ? {} : { backingUid: BEFORE, madeAt: MADE }),
  });
  const followed = async (object: JournalObject, objects: readonly KubeObject[]) => {
    const entry = entryOf(object, [owner], new Map([[0, { name: 't' }]]));
    const { cluster } = clusterOf(objects, { kinds: [v3, crd] });
    const follow = object.backingUid === undefined ? followRenamed : followViews;
    const { entries, live } = await follow(cluster, { entries: [entry], live: { found: new Map(), unread: [] } }, rollbackTo('v3.29.0'));
    return [...entries.map((one) => `${one.object.name} ${one.object.uid}`), ...[...live.found.values()].map(({ uid }) => uid)];
  };

  it('is followed to its former name', async () => {
    const group = 'crd.projectcalico.org/v1';
    assert.deepEqual(await followed(recorded(group, 'web'), [stored('default.web')]), [`default.web ${NOW}`, NOW]);
    assert.deepEqual(
      await followed(recorded(group, 'default.web'), [stored('default.web')]),
      [`default.web ${NOW}`, NOW],
      'of before the upgrade',
    );
    const younger = stored('default.web', { noted: { creationTimestamp: '2026-11-01T10:00:00Z' } });
    assert.deepEqual(await followed(recorded(group, 'web'), [younger]), [`web ${BEFORE}`], 'another one');
  });

  it('is followed to the name that the old release shows', async () => {
    const object = recorded('projectcalico.org/v3', 'web');
    assert.deepEqual(await followed(object, [shown('default.web', NOW)]), [`default.web ${NOW}`, NOW]);
    assert.deepEqual(await followed(object, []), [`web ${BEFORE}`]);
  });
});
