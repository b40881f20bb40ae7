import assert from 'node:assert/strict';
import { isEntry } from '../../../src/features/ownerrefs/journal-form.ts';
import { entryFor, reference } from '../../support/owner-entries.ts';

const entry = entryFor([reference('v3:a'), reference('apps:web'), reference('v3:b')]);
const [first, second] = entry.owners;

describe('the shape of a recorded entry', () => {
  it('is what a strip writes', () => assert.ok(isEntry(JSON.parse(JSON.stringify(entry)))));

  const spoilt: readonly [string, unknown][] = [
    ['is no object', 'text'],
    ['is a list', [entry]],
    ['has no object', { ...entry, object: undefined }],
    ['does not say the resource', { ...entry, object: { ...entry.object, plural: undefined } }],
    ['has a place behind the list', { ...entry, removed: [0, 3], owners: [first, { ...second, place: 3 }] }],
    ['has a place before the list', { ...entry, removed: [-1, 2], owners: [{ ...first, place: -1 }, second] }],
    ['has a place twice', { ...entry, removed: [0, 0], owners: [first, first] }],
    ['has places out of order', { ...entry, removed: [2, 0], owners: [second, first] }],
    ['has half a place', { ...entry, removed: [0.5], owners: [{ ...first, place: 0.5 }] }],
    ['has more owners than places', { ...entry, owners: [...entry.owners, second] }],
    ['has fewer owners than places', { ...entry, owners: [first] }],
    ['has the owners of other places', { ...entry, owners: [second, first] }],
    ['has an owner without a name', { ...entry, owners: [{ ...first, name: undefined }, second] }],
    ['has a UID of a stored owner that is no text', { ...entry, owners: [{ ...first, backingUid: 7 }, second] }],
    ['was made at a time that is no text', { ...entry, owners: [{ ...first, madeAt: 7 }, second] }],
    ['has a restored UID that is no text', { ...entry, owners: [{ ...first, restoredUid: 7 }, second] }],
    ['has a reference without a UID', { ...entry, references: entry.references.map(({ uid: _, ...one }) => one) }],
    ['has a flag that is no yes or no', { ...entry, references: entry.references.map((one) => ({ ...one, controller: 'true' })) }],
  ];
  for (const [title, value] of spoilt) it(`is not that of one that ${title}`, () => assert.equal(isEntry(value), false));
});
