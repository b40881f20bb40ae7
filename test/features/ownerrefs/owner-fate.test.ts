import assert from 'node:assert/strict';
import { fatesOf, type OwnerWorld } from '../../../src/features/ownerrefs/owner-fate.ts';
import type { Way } from '../../../src/features/ownerrefs/removal-rule.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';
import { NO_WAY, WHOLE_WAY } from '../../support/owner-way.ts';

const STORED = '30316465-6365-4463-ad63-3564622d3638';
const SERVED = convertUid(STORED) ?? '';
const OTHER = '11111111-2222-4333-8444-555555555555';

/** Why a reference is removed, where the API serves the owner under this UID. */
function removal(served: string, uid: string, { group = 'projectcalico.org/v3', way = WHOLE_WAY, isStored = true }: Asked = {}) {
  const stored = new Map([['/pool', { name: 'pool', storedName: 'pool', uid: STORED, renamePending: false }]]);
  const kinds = { IPPool: { namespaced: false, served: new Map([['/pool', served]]), ...(isStored ? { stored } : {}) } };
  const world: OwnerWorld = { ...{ apiGroup: 'projectcalico.org', crdGroup: 'crd.projectcalico.org', kinds }, ...way };
  const reference: OwnerReference = { apiVersion: group, kind: 'IPPool', name: 'pool', uid };
  return fatesOf({ object: DEPENDENT, references: [reference] }, world).fates[0]?.removal;
}
interface Asked {
  readonly group?: 'projectcalico.org/v3' | 'crd.projectcalico.org/v1';
  readonly way?: Way;
  /** False of a kind that is stored in no CRD, such as Profile. */
  readonly isStored?: boolean;
}
const STORED_GROUP = { group: 'crd.projectcalico.org/v1' } as const;

describe('a reference that is removed', () => {
  it('is a living one to the v3 group where UIDs change on the way, whatever its own owner has', () => {
    assert.equal(removal(STORED, STORED), 'uid-change');
    assert.equal(removal(SERVED, SERVED), 'uid-change');
    assert.equal(removal(SERVED, SERVED, { way: NO_WAY }), undefined);
  });

  it('goes by releases alone of an owner that is stored in no CRD', () => {
    assert.equal(removal(STORED, STORED, { isStored: false }), 'uid-change');
    assert.equal(removal(STORED, STORED, { isStored: false, way: NO_WAY }), undefined);
  });

  it('is none that a resumed run has put back', () => {
    const way = { ...WHOLE_WAY, hasBegun: true };
    assert.equal(removal(STORED, STORED, { way }), 'uid-change');
    assert.equal(removal(SERVED, SERVED, { way }), undefined);
  });

  it('is on every way one that has the stored UID where the API serves the converted one', () => {
    assert.equal(removal(SERVED, STORED), 'stored-uid');
    assert.equal(removal(SERVED, STORED, { way: NO_WAY }), 'stored-uid');
    assert.equal(removal(STORED, STORED, { way: NO_WAY }), 'stored-uid', 'by an API server that nobody has identified');
  });

  it('is none that was dead before, and none to the stored object, whose UID stays', () => {
    for (const [served, uid] of [
      [SERVED, OTHER],
      [STORED, OTHER],
    ] as const)
      assert.equal(removal(served, uid), undefined);
    assert.equal(removal(STORED, STORED, STORED_GROUP), undefined);
    assert.equal(removal(SERVED, STORED, STORED_GROUP), undefined);
  });
});
