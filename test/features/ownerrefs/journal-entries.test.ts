import assert from 'node:assert/strict';
import { type JournalOwner, strayReference, strippedIn } from '../../../src/features/ownerrefs/journal-entries.ts';
import { mergeEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { type Journal, type JournalEntry, lackingIn } from '../../../src/kernel/journal.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { DEPENDENT, entryFor, reference, V3 } from '../../support/owner-entries.ts';

const entry = (name: string, ...owners: readonly string[]) =>
  entryFor(
    owners.map((owner) => reference(owner)),
    { ...DEPENDENT, name, uid: `uid-of-${name}` },
  );

function journal(entries: readonly JournalEntry[], more: Partial<Journal> = {}): Journal {
  const merged = mergeEntries(entries);
  return {
    ...{ version: 1, clusterUid: 'uid', profile: 'calico', runIds: [], readFrom: 'x', parts: ['1'] },
    entries: merged,
    ...more,
  };
}

const RECORDED = strippedIn(journal([entry('a', 'v3:one'), entry('b', 'v3:two')]));

describe('a journal beside what the run record says was removed', () => {
  it('lacks nothing where it has every part, however much came after', () => {
    const more = journal([entry('a', 'v3:one'), entry('b', 'v3:two'), entry('c', 'v3:one')], { parts: ['1', '2'] });
    assert.equal(lackingIn(RECORDED, more), undefined);
  });

  it('is gone, or lacks a part', () => {
    assert.deepEqual(lackingIn(RECORDED, undefined)?.missing, 1);
    assert.deepEqual(lackingIn({ ...RECORDED, parts: ['0', '1'] }, journal([entry('a', 'v3:one')]))?.missing, 1);
  });

  it('is another one where its parts are others, whatever they hold', () => {
    assert.equal(lackingIn(RECORDED, journal([entry('b', 'v3:two'), entry('a', 'v3:one')], { parts: ['anew'] }))?.missing, 1);
  });
});

const GROUPS = { apiGroup: 'projectcalico.org', crdGroup: 'crd.projectcalico.org' };

/** The honest entry of one reference, with these fields of it or of its owner changed. */
function judged(change: Partial<OwnerReference>, owner: Partial<JournalOwner> = {}) {
  const { references, owners, ...entry } = entryFor([reference('apps:web'), reference('v3:a')]);
  const changed = {
    ...entry,
    references: references.map((one, place) => (place === 1 ? { ...one, ...change } : one)),
    owners: owners.map((one) => ({ ...one, ...owner })),
  };
  return strayReference([entryFor([reference('v3:b')]), changed], GROUPS);
}

describe('a recorded reference and its recorded owner', () => {
  it('are one by kind, name and scope', () => {
    assert.equal(judged({}), undefined);
    assert.equal(judged({ controller: true, uid: 'another' }), undefined);
  });

  it('are one where the owner is a stored policy, whatever its stored name is', () => {
    const stored = { apiVersion: 'crd.projectcalico.org/v1', kind: 'GlobalNetworkPolicy', name: 'default.a' };
    assert.equal(judged(stored, { group: GROUPS.crdGroup, kind: stored.kind, name: 'a' }), undefined);
  });

  const strays: readonly [string, Partial<OwnerReference>, Partial<JournalOwner>?][] = [
    ['group', { apiVersion: 'v1' }],
    ['kind', { kind: 'Node' }],
    ['name', { name: 'b' }],
    ['namespace', {}, { namespace: 'other' }],
    ['group, both of nobody', { apiVersion: 'apps/v1', kind: 'Deployment' }, { group: 'apps', kind: 'Deployment' }],
  ];
  for (const [title, change, owner] of strays)
    it(`differ by ${title}: the reference is named`, () => {
      const stray = judged(change, owner);
      assert.deepEqual(stray?.object, DEPENDENT);
      assert.deepEqual(stray.reference, { ...reference('v3:a'), ...change });
      assert.equal(stray.owner.place, 1);
    });

  it('are not compared where the reference was left on', () => {
    const entry = entryFor([reference('apps:web'), reference('v3:a')]);
    assert.equal(strayReference([{ ...entry, references: [reference('core:x'), reference('v3:a')] }], GROUPS), undefined);
    assert.equal(entry.references[1]?.apiVersion, V3);
  });
});
