import assert from 'node:assert/strict';
import { fatesOf, type OwnerWorld } from '../../../src/features/ownerrefs/owner-fate.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';

const STORED = '30316465-6365-4463-ad63-3564622d3638';
const SERVED = convertUid(STORED) ?? '';
const OTHER = '11111111-2222-4333-8444-555555555555';

/** Whether a reference has to be off, where the API serves the owner under this UID. */
function breaks(served: string, uid: string, group: 'projectcalico.org/v3' | 'crd.projectcalico.org/v1' = 'projectcalico.org/v3'): boolean {
  const stored = new Map([['/pool', { name: 'pool', storedName: 'pool', uid: STORED, renamePending: false }]]);
  const kinds = { IPPool: { namespaced: false, served: new Map([['/pool', served]]), stored } };
  const world: OwnerWorld = {
    ...{ apiGroup: 'projectcalico.org', crdGroup: 'crd.projectcalico.org', kinds },
    ...{ keepsUids: false, targetConverts: true },
  };
  const reference: OwnerReference = { apiVersion: group, kind: 'IPPool', name: 'pool', uid };
  return fatesOf({ object: DEPENDENT, references: [reference] }, world).fates[0]?.breaks ?? false;
}

describe('a reference that has to be off', () => {
  it('is one that is alive and will be dead', () => {
    assert.ok(breaks(STORED, STORED));
    assert.ok(!breaks(SERVED, SERVED));
  });

  it('is one that died by this very upgrade: it has the stored UID, and the API serves the converted one already', () => {
    assert.ok(breaks(SERVED, STORED));
  });

  it('is none that was dead before, and none to the stored object, whose UID stays', () => {
    assert.ok(!breaks(SERVED, OTHER));
    assert.ok(!breaks(STORED, OTHER));
    assert.ok(!breaks(STORED, STORED, 'crd.projectcalico.org/v1'));
    assert.ok(!breaks(SERVED, STORED, 'crd.projectcalico.org/v1'));
  });
});
