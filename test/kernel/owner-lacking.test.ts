import assert from 'node:assert/strict';
import { contentText, type JournalEntry, lackingIn, type OwnerJournal, strippedIn } from '../../src/kernel/owner-journal.ts';
import { mergeEntries } from '../../src/kernel/owner-merge.ts';
import { DEPENDENT, entryFor, reference } from '../support/owner-entries.ts';

const entry = (name: string, ...owners: readonly string[]) =>
  entryFor(
    owners.map((owner) => reference(owner)),
    { ...DEPENDENT, name, uid: `uid-of-${name}` },
  );

function journal(entries: readonly JournalEntry[], more: Partial<OwnerJournal> = {}): OwnerJournal {
  const merged = mergeEntries(entries);
  return {
    ...{ version: 1, clusterUid: 'uid', profile: 'calico', runIds: [], readFrom: 'x', copyOnly: false, parts: ['1'] },
    entries: merged,
    content: contentText(merged),
    ...more,
  };
}

const RECORDED = strippedIn(journal([entry('a', 'v3:one'), entry('b', 'v3:two')]));
const copy = (...entries: readonly JournalEntry[]) => journal(entries, { copyOnly: true, parts: ['of the copy'] });

describe('a journal beside what the run record says was removed', () => {
  it('lacks nothing where it has every part, however much came after', () => {
    const more = journal([entry('a', 'v3:one'), entry('b', 'v3:two'), entry('c', 'v3:one')], { parts: ['1', '2'] });
    assert.equal(lackingIn(RECORDED, more), undefined);
  });

  it('is gone, or lacks a part', () => {
    assert.deepEqual(lackingIn(RECORDED, undefined)?.missing, 1);
    assert.deepEqual(lackingIn({ ...RECORDED, parts: ['0', '1'] }, journal([entry('a', 'v3:one')]))?.missing, 1);
  });

  it('may be a copy with other parts that holds the very same, in any order and with what is back noted', () => {
    const b = entry('b', 'v3:two');
    const noted = { ...b, owners: b.owners.map((owner) => ({ ...owner, restoredUid: 'now' })) };
    assert.equal(lackingIn(RECORDED, copy(noted, entry('a', 'v3:one'))), undefined);
  });

  for (const [what, other] of [
    ['as many other objects', copy(entry('a', 'v3:one'), entry('c', 'v3:two'))],
    ['more objects, of an older upgrade', copy(entry('x', 'v3:one'), entry('y', 'v3:two'), entry('z', 'v3:two'))],
    ['the same objects and other references', copy(entry('a', 'v3:one'), entry('b', 'v3:three'))],
    ['fewer references of the same objects', copy(entry('a', 'v3:one'), entry('b'))],
  ] as const)
    it(`may not be a copy that holds ${what}`, () => assert.equal(lackingIn(RECORDED, other)?.missing, 1));

  it('that was brought back from a copy holds the same under other parts', () => {
    assert.equal(lackingIn(RECORDED, journal([entry('b', 'v3:two'), entry('a', 'v3:one')], { parts: ['anew'] })), undefined);
    assert.equal(lackingIn(RECORDED, journal([entry('a', 'v3:one')], { parts: ['anew'] }))?.missing, 1);
  });
});
