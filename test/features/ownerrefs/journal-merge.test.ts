import assert from 'node:assert/strict';
import fc from 'fast-check';
import { entryOf, type OwnerKnown } from '../../../src/features/ownerrefs/journal-entries.ts';
import { mergeEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { restorePatch, stripPatch } from '../../../src/features/ownerrefs/owner-patches.ts';
import type { JournalEntry } from '../../../src/kernel/journal.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { convertUid } from '../../../src/kube/converted-uid.ts';
import { DEPENDENT, entryFor, live, patched, reference, referenceLists, V3 } from '../../support/owner-entries.ts';

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

  const [before, another, third] = [
    '30316465-6365-4463-ad63-3564622d3638',
    '11111111-2222-4333-8444-555555555555',
    '41316465-6365-4463-ad63-3564622d3638',
  ];
  const after = convertUid(before) ?? '';
  const x = (uid: string, more: Partial<OwnerReference> = {}) => reference('v3:x', { uid, ...more });
  const known = (one: OwnerReference, more: Partial<OwnerKnown>) => entryOf(DEPENDENT, [one], new Map([[0, { name: 'x', ...more }]]));

  it('loses nothing that was ever recorded, whatever the order of owners of one name, of their UIDs and flags', () => {
    const owner = fc.record({
      uid: fc.constantFrom(before, after, another, third),
      name: fc.constantFrom('x', 'y'),
      flag: fc.constantFrom(undefined, true, false),
      isRemoved: fc.boolean(),
    });
    const record = fc.array(owner, { maxLength: 4 }).map((rows) => {
      const references = rows.map(({ uid, name, flag }) =>
        reference(`v3:${name}`, { uid, ...(flag === undefined ? {} : { blockOwnerDeletion: flag }) }),
      );
      const places = rows.flatMap(({ isRemoved, name }, place) => (isRemoved ? [[place, { namespace: 'shop', name }] as const] : []));
      return entryOf(DEPENDENT, references, new Map(places));
    });
    /** One owner has a UID before the upgrade and one after it. */
    const ownersOf = ({ references, removed }: JournalEntry) =>
      removed.map((place) => `${references[place]?.name} ${references[place]?.uid.replace(after, before)}`);
    const formsOf = ({ references, removed }: JournalEntry) => removed.map((place) => JSON.stringify(references[place]));
    const lacks = (has: readonly string[], wanted: readonly string[]) =>
      wanted.filter((one) => has.filter((other) => other === one).length < wanted.filter((other) => other === one).length);
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), (records) => {
        const [merged] = mergeEntries(records);
        assert.ok(merged);
        for (const one of records) assert.deepEqual(lacks(ownersOf(merged), ownersOf(one)), []);
        assert.deepEqual(lacks(formsOf(merged), formsOf(records.at(-1) ?? merged)), []);
      }),
    );
  });

  it('keeps both of two owners of one name, when one of them is recorded with other flags', () => {
    const again = x(another, { blockOwnerDeletion: true });
    const [merged] = mergeEntries([entryFor([x(before), x(another)]), entryFor([again])]);
    assert.deepEqual(
      [merged?.references, merged?.removed],
      [
        [x(before), again],
        [0, 1],
      ],
    );
  });

  it('keeps each of two references with one UID, when one of them is recorded again', () => {
    const flagged = x(before, { blockOwnerDeletion: true });
    const [merged] = mergeEntries([entryFor([x(before), flagged]), entryFor([flagged])]);
    assert.deepEqual(merged?.references, [x(before), flagged]);
  });

  it('keeps what names another of that name, and takes an owner under its new UID for the same', () => {
    const placesOf = (...entries: readonly JournalEntry[]) =>
      mergeEntries(entries)[0]
        ?.references.map(({ uid }) => uid)
        .toSorted();
    assert.deepEqual(placesOf(known(x(before), {}), known(x(another), {})), [another, before]);
    assert.deepEqual(placesOf(known(x(before), {}), known(x(after), {})), [after]);
    assert.deepEqual(placesOf(known(x(before), { backingUid: 'b' }), known(x(another), { backingUid: 'b' })), [another]);
    const [at, later] = ['2026-01-01T10:00:00Z', '2026-01-02T10:00:00Z'];
    assert.deepEqual(placesOf(known(x(before), { madeAt: at }), known(x(another), { madeAt: at })), [another]);
    assert.deepEqual(placesOf(known(x(before), { madeAt: at }), known(x(another), { madeAt: later })), [another, before]);
  });

  it('goes by what was known of an owner while the reference was alive', () => {
    const [first, second] = [{ backingUid: before }, { backingUid: another }];
    const backing = (...all: readonly Partial<OwnerKnown>[]) => mergeEntries(all.map((one) => known(x(before), one)))[0]?.owners[0];
    assert.equal(backing(first, second)?.backingUid, before);
    assert.equal(backing({}, second)?.backingUid, another, 'where nothing was known, what is found later');
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
