import assert from 'node:assert/strict';
import type { OwnedFate, ReferenceFate } from '../../../src/features/ownerrefs/owner-fate.ts';
import { byKey, cameBack, stripPlan } from '../../../src/features/ownerrefs/owner-strip.ts';
import { DEPENDENT, entryFor, reference } from '../../support/owner-entries.ts';

const [a, b] = [reference('v3:a'), reference('v3:b')];
const owning = (references: readonly (typeof a)[]): OwnedFate => ({
  owned: { object: DEPENDENT, references },
  fates: references.map((one, place) => ({
    place,
    reference: one,
    owner: { namespace: 'shop', name: one.name },
    servedUid: one.uid,
    removal: 'uid-change',
  })),
});

const dead = ({ removal: _, ...fate }: ReferenceFate): ReferenceFate => fate;

describe('what is recorded before it is removed', () => {
  const all = () => true;

  it('is what the journal does not hold yet of this object, whatever else of it is there', () => {
    assert.deepEqual(stripPlan([owning([a, b])], all, [entryFor([a])]).entries, [entryFor([a, b])]);
    assert.deepEqual(stripPlan([owning([a])], all, [entryFor([{ ...a, controller: true }])]).entries, [entryFor([a])]);
  });

  it('is nothing that it holds: only the patch is sent', () => {
    const { entries, patches } = stripPlan([owning([a])], all, [entryFor([a, b])]);
    assert.deepEqual([entries, patches.length], [[], 1]);
  });

  it('is of one that came back dead whom it named when it lived, for another may have its owner’s name now', () => {
    const recorded = entryFor([a]);
    const before = { ...recorded, owners: recorded.owners.map((one) => ({ ...one, backingUid: 'before' })) };
    const back = { ...a, controller: true };
    const { owned, fates } = owning([back]);
    const owner = { namespace: 'shop', name: a.name, backingUid: 'another' };
    const planned = (isAlive: boolean) =>
      stripPlan([{ owned, fates: fates.map((fate) => ({ ...(isAlive ? fate : dead(fate)), owner })) }], all, [before]).entries.map(
        ({ references, owners }) => [references, owners[0]?.backingUid],
      );
    assert.deepEqual(planned(false), [[[back], 'before']]);
    assert.deepEqual(planned(true), [[[back], 'another']], 'one that lives names whom it names now');
  });

  it('is of one that came back dead no longer that it is back: it comes off again', () => {
    const recorded = entryFor([a]);
    const noted = { ...recorded, owners: recorded.owners.map((one) => ({ ...one, restoredUid: 'now' })) };
    const { owned, fates } = owning([a]);
    const { entries } = stripPlan([{ owned, fates: fates.map(dead) }], all, [noted]);
    assert.deepEqual(entries, [recorded]);
  });

  it('is nothing of an object that keeps all of its references', () => {
    assert.deepEqual(
      stripPlan([owning([a])], () => false, []),
      { entries: [], patches: [] },
    );
  });
});

describe('a reference that came back', () => {
  it('is one that was off with the same UID, whatever its flags are now, on this very object', () => {
    const recorded = byKey([entryFor([a])]);
    const owned = { object: DEPENDENT, references: [a, b] };
    assert.ok(cameBack(owned, a, recorded));
    assert.ok(cameBack(owned, { ...a, controller: true }, recorded));
    assert.ok(!cameBack(owned, { ...a, uid: 'another' }, recorded));
    assert.ok(!cameBack(owned, b, recorded));
    assert.ok(!cameBack({ ...owned, object: { ...DEPENDENT, uid: 'made-anew' } }, a, recorded));
  });
});
