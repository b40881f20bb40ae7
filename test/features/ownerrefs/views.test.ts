import assert from 'node:assert/strict';
import { entryKey, entryOf, type JournalObject } from '../../../src/features/ownerrefs/journal-entries.ts';
import { fatesOf, type OwnerWorld } from '../../../src/features/ownerrefs/owner-fate.ts';
import type { Way } from '../../../src/features/ownerrefs/removal-rule.ts';
import { followViews } from '../../../src/features/ownerrefs/restore-live.ts';
import { scanOwned } from '../../../src/features/ownerrefs/survey.ts';
import type { Kind, KubeObject, OwnerReference } from '../../../src/kernel/object.ts';
import type { ClusterReader } from '../../../src/kernel/ports.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { NO_WAY } from '../../support/owner-way.ts';

const STORED = '30316465-6365-4463-ad63-3564622d3638';
const SHOWN = '0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c';
const OTHER = '11111111-2222-4333-8444-555555555555';
const OWNER = '99999999-8888-4777-8666-555555555555';

const kindIn = (group: string, version: string): Kind => ({
  ...{ group, version, kind: 'NetworkPolicy', plural: 'networkpolicies', namespaced: true },
});
const [V3, CRD] = [kindIn('projectcalico.org', 'v3'), kindIn('crd.projectcalico.org', 'v1')];
const owner = (uid = OWNER, apiVersion = 'projectcalico.org/v3'): OwnerReference => ({ apiVersion, kind: 'NetworkSet', name: 'set', uid });

interface Policy {
  readonly name: string;
  readonly uid: string;
  readonly owners?: readonly OwnerReference[];
  readonly note?: { readonly ownerReferences?: readonly OwnerReference[]; readonly creationTimestamp?: string };
  readonly madeAt?: string;
}

function objectOf({ group, version, kind }: Kind, { name, uid, owners, note, madeAt }: Policy): KubeObject {
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: {
      ...{ name, namespace: 'shop', uid },
      ...(owners ? { ownerReferences: owners } : {}),
      ...(note ? { annotations: { 'projectcalico.org/metadata': JSON.stringify(note) } } : {}),
      ...(madeAt ? { creationTimestamp: madeAt } : {}),
    },
  };
}

/** What each group has of the kind; `byName` is what the v3 API finds, if it does not find all that it lists. */
function clusterOf(shows: readonly Policy[], keeps: readonly Policy[], byName = shows): Pick<ClusterReader, 'discover' | 'list' | 'get'> {
  const of = (kind: Kind, policies: readonly Policy[]) => policies.map((one) => objectOf(kind, one));
  return {
    discover: async () => ({ kinds: [V3, CRD], failed: [] }),
    list: async (kind, { ownedBy, keep = (one: KubeObject) => one } = {}) =>
      of(kind, kind.group === V3.group ? shows : keeps)
        .filter(({ metadata }) => !ownedBy || metadata.ownerReferences)
        .map(keep),
    get: async (kind, name) => of(kind, kind.group === V3.group ? byName : keeps).find(({ metadata }) => metadata.name === name),
  };
}

describe('a kind that is seen in both groups', () => {
  const noted = { ownerReferences: [owner()], creationTimestamp: '2026-01-01T10:00:00Z' };

  for (const uid of [STORED, SHOWN])
    it(`gives what is only noted in the view of the v3 API, under the UID that it shows (${uid === STORED ? 'stored' : 'converted'})`, async () => {
      const shows = [{ name: 'web', uid, owners: [owner()] }];
      const { objects, unread } = await scanOwned(clusterOf(shows, [{ name: 'default.web', uid: STORED, note: noted }]), calico);
      assert.deepEqual(unread, []);
      const object: JournalObject = {
        ...{ apiVersion: 'projectcalico.org/v3', kind: 'NetworkPolicy', plural: 'networkpolicies', name: 'web', uid, namespace: 'shop' },
        ...{ backingUid: STORED, madeAt: '2026-01-01T10:00:00Z' },
      };
      assert.deepEqual(objects, [{ object, references: [owner()], noted: [owner()] }]);
    });

  it('gives what both show where it is stored, and once', async () => {
    const [shows, keeps] = [[{ name: 'web', uid: SHOWN, owners: [owner()] }], [{ name: 'web', uid: STORED, owners: [owner()] }]];
    const { objects } = await scanOwned(clusterOf(shows, keeps), calico);
    assert.deepEqual(
      objects.map(({ object: { apiVersion, uid } }) => [apiVersion, uid]),
      [['crd.projectcalico.org/v1', STORED]],
    );
  });

  it('gives both where the stored object lists other owners than are noted', async () => {
    const shows = [{ name: 'web', uid: SHOWN, owners: [owner()] }];
    const keeps = [{ name: 'web', uid: STORED, owners: [owner(OTHER)], note: noted }];
    const { objects } = await scanOwned(clusterOf(shows, keeps), calico);
    assert.deepEqual(
      objects.map(({ object, references }) => [object.apiVersion, references[0]?.uid]),
      [
        ['crd.projectcalico.org/v1', OTHER],
        ['projectcalico.org/v3', OWNER],
      ],
    );
  });

  it('counts as unread where owners are noted that the v3 API does not show', async () => {
    const { unread } = await scanOwned(clusterOf([], [{ name: 'default.web', uid: STORED, note: noted }]), calico);
    assert.deepEqual(unread, [
      {
        kind: 'networkpolicies.projectcalico.org',
        because: 'it does not show NetworkPolicy/shop/default.web, which is stored with owners noted beside it',
      },
    ]);
  });

  it('is read where no noted owner is of the service', async () => {
    const note = { ownerReferences: [owner(OTHER, 'apps/v1')] };
    assert.deepEqual((await scanOwned(clusterOf([], [{ name: 'web', uid: STORED, note }]), calico)).unread, []);
  });
});

describe('a recorded object of the v3 API after the upgrade', () => {
  const madeAt = '2026-01-01T10:00:00Z';
  const object: JournalObject = {
    ...{ apiVersion: 'projectcalico.org/v3', kind: 'NetworkPolicy', plural: 'networkpolicies', namespace: 'shop', name: 'web' },
    ...{ uid: STORED, backingUid: STORED, madeAt },
  };
  const entry = entryOf(object, [owner()], new Map([[0, { name: 'set', namespace: 'shop' }]]));
  const followed = async (now: Policy | undefined, keeps: readonly Policy[] = []) => {
    const live = now && { apiVersion: 'projectcalico.org/v3', uid: now.uid, references: [], ...(now.madeAt ? { madeAt: now.madeAt } : {}) };
    const found = new Map(live ? [[entryKey(entry), live]] : []);
    const cluster = clusterOf(now ? [now] : [], keeps);
    const { entries, live: after } = await followViews(
      cluster,
      { entries: [entry], live: { found, unread: [] } },
      { profile: calico, intent: { kind: 'upgrade' } },
    );
    return { uid: entries[0]?.object.uid, key: entries.map(entryKey), mute: after.mute?.has(entryKey(entry)) };
  };

  const cases: readonly [string, Policy, string][] = [
    ['as it was', { name: 'web', uid: STORED }, STORED],
    ['with its UID converted', { name: 'web', uid: SHOWN }, SHOWN],
    ['stored anew: it was made when the recorded one was', { name: 'web', uid: OTHER, madeAt }, OTHER],
    ['another of its name, made later', { name: 'web', uid: OTHER, madeAt: '2026-01-02T10:00:00Z' }, STORED],
  ];
  for (const [title, now, uid] of cases)
    it(`is known: ${title}`, async () => assert.deepEqual(await followed(now), { uid, key: [entryKey(entry)], mute: false }));

  it('is not gone where it is stored under its old name, and does not answer to its own', async () => {
    assert.equal((await followed(undefined, [{ name: 'default.web', uid: STORED }])).mute, true);
    assert.equal((await followed(undefined, [{ name: 'default.web', uid: OTHER }])).mute, false);
  });
});

describe('a noted owner', () => {
  const uid = convertUid(OWNER) ?? '';
  const world = (way: Way): OwnerWorld => ({
    ...{ apiGroup: calico.apiGroup, crdGroup: calico.crdGroup, ...way },
    kinds: {
      NetworkSet: {
        namespaced: true,
        served: new Map([['shop/set', uid]]),
        stored: new Map([['shop/set', { name: 'set', storedName: 'set', uid: OWNER, renamePending: false }]]),
      },
    },
  });
  const removal = (noted: OwnerReference, way: Partial<Way> = {}) => {
    const object = {
      ...{ apiVersion: 'projectcalico.org/v3', kind: 'NetworkSet', plural: 'networksets', namespace: 'shop', name: 'x', uid: SHOWN },
    };
    const known = world({ ...NO_WAY, changesNotes: true, ...way });
    return fatesOf({ object, references: [owner(uid)], noted: [noted] }, known).fates[0]?.removal;
  };

  it('is removed where the target shows it otherwise than the source, whichever group is noted', () => {
    for (const noted of [owner(uid), owner(OWNER), owner(OWNER, 'crd.projectcalico.org/v1')]) assert.equal(removal(noted), 'uid-change');
    assert.equal(removal(owner(uid), { changesNotes: false }), undefined);
  });

  it('stays once a resumed run has put it back: it is noted with the stored UID, and shown with the new one', () => {
    assert.equal(removal(owner(OWNER, 'crd.projectcalico.org/v1'), { hasBegun: true }), undefined);
    assert.equal(removal(owner(uid), { hasBegun: true }), 'uid-change');
  });
});
