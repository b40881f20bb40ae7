import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mergeEntries } from '../../src/core/owner-merge.ts';
import { stripPatch } from '../../src/core/owner-patches.ts';
import { restorePatch } from '../../src/core/owner-restore.ts';
import { DEPENDENT, entryFor, live, patched, reference, referenceLists, V3 } from '../support/owner-entries.ts';

const [a, b, web] = [reference('v3:a'), reference('v3:b'), reference('apps:web')];

describe('a journal of several strips', () => {
  it('is the same after the same strip again', () => {
    fc.assert(fc.property(referenceLists, (list) => assert.deepEqual(mergeEntries([entryFor(list), entryFor(list)]), [entryFor(list)])));
  });

  it('loses no reference and no place, whatever the lists', () => {
    fc.assert(
      fc.property(fc.array(referenceLists, { minLength: 1, maxLength: 4 }), (lists) => {
        const [merged] = mergeEntries(lists.map((list) => entryFor(list)));
        const names = (merged?.removed ?? []).map((place) => merged?.references[place]?.name).toSorted();
        const recorded = new Set(lists.flat().flatMap((one) => (one.apiVersion === V3 ? [one.name] : [])));
        assert.deepEqual(names, [...recorded].toSorted());
        for (const one of lists.flat()) assert.ok(merged?.references.some((found) => found.uid === one.uid));
        assert.deepEqual(
          merged?.owners.map(({ place, name }) => [place, name]),
          merged?.removed.map((place) => [place, merged.references[place]?.name]),
        );
      }),
    );
  });

  it('keeps a reference twice that was there twice', () => {
    const twice = entryFor([a, web, a]);
    assert.deepEqual(mergeEntries([twice, twice]), [twice]);
    const more = entryFor([a, web, a, b]);
    assert.deepEqual(mergeEntries([twice, more]), [more], 'what is new stands behind the second');
  });

  it('puts back what both took off, in the order in which it stood', () => {
    const first = entryFor([a, web]);
    const bare = patched(live([a, web]), stripPatch(first, live([a, web])).ops);
    const second = entryFor([...bare.references, b]);
    const [merged] = mergeEntries([first, second]);
    assert.ok(merged);
    const now = live([web]);
    assert.deepEqual(patched(now, restorePatch(merged, now, ({ name }) => ({ uid: `uid-of-v3:${name}` })).ops).references, [a, web, b]);
  });

  it('counts a reference that a controller put back with other flags as the same, in its later form', () => {
    const later = { ...a, blockOwnerDeletion: true };
    const [merged] = mergeEntries([entryFor([a, web]), entryFor([web, later])]);
    assert.deepEqual([merged?.references, merged?.removed], [[later, web], [0]]);
  });

  it('keeps a removed place that a later, narrower strip leaves alone', () => {
    const [merged] = mergeEntries([entryFor([a, b]), { ...entryFor([a, b]), removed: [], owners: [] }]);
    assert.deepEqual(merged?.removed, [0, 1]);
  });

  it('holds objects apart by namespace, kind and instance', () => {
    const again = { ...DEPENDENT, uid: 'made-anew' };
    const elsewhere = { ...DEPENDENT, namespace: 'other' };
    assert.equal(mergeEntries([entryFor([a]), entryFor([a], again), entryFor([a], elsewhere)]).length, 3);
  });
});
