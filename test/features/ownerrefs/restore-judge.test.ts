import assert from 'node:assert/strict';
import { entryKey, entryOf, type OwnerKnown } from '../../../src/features/ownerrefs/journal-entries.ts';
import type { OwnersOfKind, OwnerWorld, StoredOwner } from '../../../src/features/ownerrefs/owner-fate.ts';
import { judgeEntries } from '../../../src/features/ownerrefs/restore-judge.ts';
import type { JournalEntry } from '../../../src/kernel/journal.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';
import { NO_WAY } from '../../support/owner-way.ts';

const STORED = '30316465-6365-4463-ad63-3564622d3638';
const CONVERTED = convertUid(STORED) ?? '';
const OTHER = '11111111-2222-4333-8444-555555555555';
const set = (uid = STORED): OwnerReference => ({ apiVersion: 'projectcalico.org/v3', kind: 'NetworkSet', name: 'set', uid });
const recorded = (known: Partial<OwnerKnown> = {}): JournalEntry =>
  entryOf(DEPENDENT, [set()], new Map([[0, { namespace: 'shop', name: 'set', ...known }]]));

interface Now {
  readonly served?: string;
  /** UIDs of all that are shown under the one name. */
  readonly twins?: readonly string[];
  readonly stored?: string;
  readonly unread?: readonly string[];
  readonly mute?: readonly string[];
  readonly accept?: readonly { readonly check: string; readonly subject?: string }[];
  readonly isThere?: boolean;
  readonly undo?: true;
}

function judged(entry: JournalEntry, { served, twins, stored, unread = [], mute = [], accept = [], isThere = true, undo }: Now) {
  const owners: OwnersOfKind = {
    namespaced: true,
    ...(served ? { served: new Map([['shop/set', served]]) } : {}),
    ...(twins ? { twins: new Map([['shop/set', new Set(twins)]]) } : {}),
    ...(stored ? { stored: new Map([['shop/set', { name: 'set', storedName: 'set', uid: stored, renamePending: false }]]) } : {}),
  };
  const [apiGroup, crdGroup] = ['projectcalico.org', 'crd.projectcalico.org'];
  const world: OwnerWorld = { apiGroup, crdGroup, kinds: { NetworkSet: owners }, ...NO_WAY };
  const live = new Map(isThere ? [[entryKey(entry), { apiVersion: 'v1', uid: DEPENDENT.uid, references: [] }]] : []);
  const seen = {
    live,
    world,
    mute: new Set(mute),
    muteObjects: new Set<string>(),
    unread: new Set(unread),
    ...(undo ? { asBefore: undo } : {}),
  };
  const { patches, outstanding, otherOwners, ownerGone, changed, unaddressed } = judgeEntries([entry], seen, contextOf({ accept }));
  const left = { ownerGone, changed, unaddressed };
  return {
    sent: patches.length,
    outstanding,
    others: otherOwners.map(({ detail }) => detail),
    left: Object.entries(left).flatMap(([why, all]) => (all.length > 0 ? [why] : [])),
  };
}

const POLICY = 'GlobalNetworkPolicy';
const MIGRATED = '41316465-6365-4463-ad63-3564622d3638';
const MADE = '2026-01-01T10:00:00Z';
const KNOWN = { backingUid: STORED, madeAt: MADE };

/** Of a reference to policy `web`: whether it goes back. */
function ofPolicy({
  now,
  hidden = [],
  served = convertUid(MIGRATED),
  known = KNOWN,
}: PolicyNow & { readonly known?: Partial<OwnerKnown> }) {
  const reference: OwnerReference = { apiVersion: 'projectcalico.org/v3', kind: POLICY, name: 'web', uid: STORED };
  const entry = entryOf(DEPENDENT, [reference], new Map([[0, { name: 'web', ...known }]]));
  const owners: OwnersOfKind = {
    namespaced: false,
    served: new Map([['/web', served ?? '']]),
    ...(now
      ? { stored: new Map([['/web', { name: 'web', storedName: 'web', uid: MIGRATED, renamePending: false, madeAt: MADE, ...now }]]) }
      : {}),
    hidden: new Map(hidden.map((uid) => ['/default.web', { name: 'web', storedName: 'default.web', uid, renamePending: true }])),
  };
  const [apiGroup, crdGroup] = ['projectcalico.org', 'crd.projectcalico.org'];
  const world: OwnerWorld = { apiGroup, crdGroup, kinds: { [POLICY]: owners }, ...NO_WAY };
  const live = new Map([[entryKey(entry), { apiVersion: 'v1', uid: DEPENDENT.uid, references: [] }]]);
  const { patches, otherOwners } = judgeEntries(
    [entry],
    { live, world, mute: new Set(), muteObjects: new Set(), unread: new Set() },
    contextOf({}),
  );
  return [patches.length, otherOwners.map(({ text }) => text)];
}

interface PolicyNow {
  /** What is stored; nothing was read if there is none. */
  readonly now?: Partial<StoredOwner>;
  /** UIDs of what is stored under the old name still. */
  readonly hidden?: readonly string[];
  readonly served?: string | undefined;
}

describe('what names a policy', () => {
  const later = '2026-01-02T10:00:00Z';
  const judgedOf = (known: Partial<OwnerKnown>, now: PolicyNow) => ofPolicy({ ...now, known: { backingUid: STORED, ...known } });

  const own: readonly [string, Partial<OwnerKnown>, PolicyNow][] = [
    ['its copy, made when it was', { madeAt: MADE }, { now: { madeAt: MADE } }],
    ['the recorded one still', { madeAt: MADE }, { now: { uid: STORED, madeAt: MADE }, served: CONVERTED }],
    ['the recorded one, and what is stored could not be read', { madeAt: MADE }, { served: CONVERTED }],
  ];
  for (const [title, known, now] of own)
    it(`goes back where the policy is ${title}`, () => assert.deepEqual(judgedOf(known, now), [1, []]));

  const others: readonly [string, Partial<OwnerKnown>, PolicyNow][] = [
    ['is served with another UID than what is stored gives', { madeAt: MADE }, { now: {}, served: OTHER }],
    ['was made later', { madeAt: MADE }, { now: { madeAt: later } }],
    ['was stored anew, and nothing tells when the recorded one was made', {}, { now: {} }],
    ['keeps its stored name', { madeAt: MADE }, { now: { madeAt: MADE, storedName: 'sec.web' } }],
    ['stands beside the recorded one', { madeAt: MADE }, { now: { madeAt: MADE }, hidden: [STORED] }],
    ['has another UID, and what is stored could not be read', { madeAt: MADE }, {}],
  ];
  for (const [title, known, now] of others)
    it(`does not go back where the policy ${title}`, () => assert.deepEqual(judgedOf(known, now), [0, [`${POLICY}/web`]]));
});

describe('what names a policy that older API servers showed without its prefix', () => {
  const reference: OwnerReference = { apiVersion: 'projectcalico.org/v3', kind: POLICY, name: 'web', uid: STORED };
  const putBack = (
    storedAs: Partial<StoredOwner>,
    known: Partial<OwnerKnown> = { backingUid: STORED },
    beside: readonly (readonly [string, string])[] = [],
  ) => {
    const entry = entryOf(DEPENDENT, [reference], new Map([[0, { name: 'web', ...known }]]));
    const owner = { name: 'default.web', storedName: 'default.web', uid: STORED, renamePending: false, ...storedAs };
    const owners: OwnersOfKind = {
      namespaced: false,
      served: new Map([['/default.web', CONVERTED], ...beside]),
      stored: new Map([[`/${owner.name}`, owner]]),
    };
    const [apiGroup, crdGroup] = ['projectcalico.org', 'crd.projectcalico.org'];
    const world: OwnerWorld = { apiGroup, crdGroup, kinds: { [POLICY]: owners }, ...NO_WAY };
    const live = new Map([[entryKey(entry), { apiVersion: 'v1', uid: DEPENDENT.uid, references: [] }]]);
    const { patches, ownerGone } = judgeEntries(
      [entry],
      { live, world, mute: new Set(), muteObjects: new Set(), unread: new Set() },
      contextOf({}),
    );
    return [patches.flatMap(({ patch }) => patch.filter(({ path }) => path.endsWith('/0')).map((op) => op)), ownerGone.length];
  };

  it('goes back under the name that the new one finds it by', () => {
    const value = { ...reference, name: 'default.web', uid: CONVERTED };
    const back = [[{ op: 'add', path: '/metadata/ownerReferences/0', value }], 0];
    assert.deepEqual(putBack({}), back);
    assert.deepEqual(putBack({}, { backingUid: STORED }, [['/web', OTHER]]), back);
  });

  it('stays off where the policy is another, where it was not known, and where no question by that name finds it', () => {
    assert.deepEqual(putBack({ uid: OTHER }), [[], 1]);
    assert.deepEqual(putBack({}, {}), [[], 1]);
    assert.deepEqual(putBack({ storedName: 'sec.default.web' }), [[], 1]);
  });
});

describe('what may go back', () => {
  const nothing = { sent: 0, outstanding: 1, others: [] };

  it('is what names its owner by the UID that the stored object gives', () => {
    const good = { sent: 1, outstanding: 1, others: [], left: [] };
    assert.deepEqual(judged(recorded({ backingUid: STORED }), { served: CONVERTED, stored: STORED }), good);
    assert.deepEqual(judged(recorded(), { served: CONVERTED }), good);
  });

  it('is of two owners of one name, each recorded, the one that is there: the other is gone, and holds nothing up', () => {
    const [known, gone] = [{ backingUid: STORED }, { backingUid: OTHER }];
    const both = (first: Partial<OwnerKnown>, second: Partial<OwnerKnown>) => {
      const named = [first, second].map((one, place): [number, OwnerKnown] => [place, { namespace: 'shop', name: 'set', ...one }]);
      return judged(entryOf(DEPENDENT, [set(first.backingUid), set(second.backingUid)], new Map(named)), {
        served: CONVERTED,
        stored: STORED,
      });
    };
    const good = { sent: 1, outstanding: 1, others: [], left: ['ownerGone'] };
    assert.deepEqual([both(gone, known), both(known, gone)], [good, good]);
    assert.equal(both(gone, gone).others.length, 1, 'neither is there');
  });

  it('is before the upgrade what names the one of two of a name that the reference had', () => {
    const good = { sent: 1, outstanding: 1, others: [], left: [] };
    assert.deepEqual(judged(recorded(), { served: OTHER, twins: [STORED, OTHER], undo: true }), good);
  });

  const others: readonly [string, Partial<OwnerKnown>, Now, RegExp][] = [
    ['the recorded object has', { backingUid: STORED }, { served: OTHER }, /nothing is seen stored/],
    ['the reference leads to, where the owner could not be read before', {}, { served: OTHER }, /the reference had/],
    ['the stored object gives', { backingUid: STORED }, { served: STORED, stored: STORED }, /the stored object gives/],
    ['the reference had, before the upgrade', {}, { served: CONVERTED, undo: true }, /the reference had/],
  ];
  for (const [what, known, now, says] of others)
    it(`is nothing that names an owner with another UID than ${what}, unless it is accepted by name`, () => {
      const { sent, outstanding, others: told } = judged(recorded(known), now);
      assert.deepEqual([sent, outstanding, told.length], [0, 1, 1]);
      assert.match(told[0] ?? '', says);
      const by = (subject: string) => judged(recorded(known), { ...now, accept: [{ check: 'NS-746', subject }] }).sent;
      assert.deepEqual([by('NetworkSet/shop/other'), by('NetworkSet/shop/set')], [0, 1]);
    });

  it('is nothing whose owner could not be read: it is still to come', () => {
    for (const accept of [[], [{ check: 'NS-744' }, { check: 'NS-745' }]])
      assert.deepEqual(judged(recorded(), { unread: ['projectcalico.org|NetworkSet'], accept }), { ...nothing, left: ['changed'] });
  });

  it('is nothing on an object that could not be read: it is still to come', () => {
    assert.deepEqual(judged(recorded(), { served: CONVERTED, isThere: false, unread: ['configmaps'] }), { ...nothing, left: ['changed'] });
  });

  it('is nothing whose owner is not found by its name: it is still to come', () => {
    const mute = ['projectcalico.org|NetworkSet|shop|set'];
    assert.deepEqual(judged(recorded(), { served: CONVERTED, mute }), { ...nothing, left: ['unaddressed'] });
  });

  it('is nothing whose owner is gone: the journal alone knows of it, until that is accepted', () => {
    const { object } = recorded();
    const subject = `${object.kind}/${object.namespace}/${object.name}`;
    const open = (accept: Now['accept'] = []) => judged(recorded(), { accept }).outstanding;
    assert.deepEqual(judged(recorded(), {}), { ...nothing, left: ['ownerGone'] });
    assert.deepEqual(
      [open([{ check: 'NS-745' }]), open([{ check: 'NS-744', subject: 'ConfigMap/other' }]), open([{ check: 'NS-748' }])],
      [1, 1, 1],
    );
    assert.deepEqual([open([{ check: 'NS-744' }]), open([{ check: 'NS-744', subject }]), open([{ check: 'NS-748', subject }])], [0, 0, 0]);
  });

  it('is nothing whose owner went after it was put back: that is over', () => {
    assert.deepEqual(judged(recorded({ restoredUid: CONVERTED }), {}), { ...nothing, outstanding: 0, left: ['ownerGone'] });
  });

  it('is nothing where the object is gone: that is over', () => {
    assert.deepEqual(judged(recorded(), { served: CONVERTED, isThere: false }), { ...nothing, outstanding: 0, left: ['changed'] });
  });
});

describe('an owner that is another than the recorded one', () => {
  const judge = (apiVersion: string, served: string, stored: string) => {
    const reference = { ...set(), apiVersion };
    const known = { namespace: 'shop', name: 'set', backingUid: STORED };
    const entry = entryOf(DEPENDENT, [reference], new Map([[0, known]]));
    const row = { name: 'set', storedName: 'set', uid: stored, renamePending: false };
    const owners = { namespaced: true, served: new Map([['shop/set', served]]), stored: new Map([['shop/set', row]]) };
    const groups = { apiGroup: 'projectcalico.org', crdGroup: 'crd.projectcalico.org' };
    const world: OwnerWorld = { ...groups, kinds: { NetworkSet: owners }, ...NO_WAY };
    const live = new Map([[entryKey(entry), { apiVersion: 'v1', uid: DEPENDENT.uid, references: [] }]]);
    const seen = { live, world, mute: new Set<string>(), muteObjects: new Set<string>(), unread: new Set<string>() };
    const { otherOwners, someAsExpected } = judgeEntries([entry], seen, contextOf());
    return [otherOwners.length, someAsExpected];
  };

  it('holds nothing else up where it is stored: no old API server can be the reason', () => {
    assert.deepEqual(judge('crd.projectcalico.org/v1', OTHER, OTHER), [1, true]);
  });

  it('holds all up where the v3 API shows it, and no other owner proves that the new server answers', () => {
    assert.deepEqual(judge('projectcalico.org/v3', OTHER, OTHER), [1, false]);
  });
});
