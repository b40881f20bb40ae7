import assert from 'node:assert/strict';
import type { OwnerReference } from '../../src/kernel/object.ts';
import { type JournalOwner, strayReference } from '../../src/kernel/owner-journal.ts';
import { DEPENDENT, entryFor, reference, V3 } from '../support/owner-entries.ts';

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
