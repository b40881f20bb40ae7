import assert from 'node:assert/strict';
import type { OwnersOfKind } from '../../../src/features/ownerrefs/owner-fate.ts';
import { unshownOwner } from '../../../src/features/ownerrefs/world.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';

const to = (apiVersion: string, kind: string, name: string): OwnerReference => ({ apiVersion, kind, name, uid: 'u' });
const V3 = 'projectcalico.org/v3';
const stored = (place: string, name: string) => new Map([[place, { name, storedName: name, uid: 'u', renamePending: false }]]);
const asked = (owners: OwnersOfKind, ...references: readonly OwnerReference[]) =>
  unshownOwner({ apiGroup: 'projectcalico.org', kind: 'IPPool' }, owners, [{ object: DEPENDENT, references }]);

describe('an owner that is stored and not shown', () => {
  const hidden: OwnersOfKind = { namespaced: false, served: new Map(), stored: stored('/pool', 'pool') };

  it('is named', () => {
    assert.equal(asked(hidden, to(V3, 'IPPool', 'pool')), 'IPPool/pool');
  });

  it('is sought in the namespace of the object, where its kind has namespaces', () => {
    const spaced: OwnersOfKind = { namespaced: true, served: new Map(), stored: stored('shop/pool', 'pool') };
    assert.equal(asked(spaced, to(V3, 'IPPool', 'pool')), 'IPPool/shop/pool');
  });

  it('is of no concern where nobody names it in the v3 group, or it is no more, or one of the two was not read', () => {
    assert.equal(asked(hidden, to('crd.projectcalico.org/v1', 'IPPool', 'pool'), to(V3, 'NetworkSet', 'pool')), undefined);
    assert.equal(asked(hidden, to(V3, 'IPPool', 'gone')), undefined);
    assert.equal(asked({ namespaced: false, stored: stored('/pool', 'pool') }, to(V3, 'IPPool', 'pool')), undefined);
    assert.equal(asked({ namespaced: false, served: new Map() }, to(V3, 'IPPool', 'pool')), undefined);
  });
});
