import assert from 'node:assert/strict';
import type { FieldsV1, ManagedFieldsEntry } from '../../src/kernel/object.ts';
import { referenceWriter, writerText } from '../../src/kube/reference-writer.ts';

const UID = '6f1d2f3c-0000-4000-8000-000000000001';
/** Owns references with these UIDs, as a real API server books them. */
const owns = (...uids: readonly string[]): FieldsV1 => ({
  'f:metadata': { 'f:ownerReferences': { '.': {}, ...Object.fromEntries(uids.map((uid) => [`k:{"uid":"${uid}"}`, {}])) } },
});
const entry = (manager: string, fieldsV1: FieldsV1, more: ManagedFieldsEntry = {}): ManagedFieldsEntry => ({
  ...{ manager, operation: 'Update', apiVersion: 'v1', time: '2026-11-22T13:00:00Z', fieldsType: 'FieldsV1', fieldsV1 },
  ...more,
});
const at = (minute: string) => ({ time: `2026-11-22T13:${minute}:00Z` });

describe('who wrote an owner reference', () => {
  const cases: readonly [string, readonly ManagedFieldsEntry[] | undefined, string | undefined][] = [
    ['is who owns the item with its UID', [entry('flux', owns('other', UID))], 'flux (Update) at 2026-11-22T13:00:00Z'],
    ['is told with the operation', [entry('flux', owns(UID), { operation: 'Apply' })], 'flux (Apply) at 2026-11-22T13:00:00Z'],
    [
      'is of several the one that wrote last, wherever it stands',
      [entry('a', owns(UID), at('01')), entry('b', owns(UID), at('03')), entry('c', owns(UID), at('02'))],
      'b (Update) at 2026-11-22T13:03:00Z',
    ],
    [
      'is rather who has a time',
      [{ manager: 'old', fieldsV1: owns(UID) }, entry('new', owns(UID))],
      'new (Update) at 2026-11-22T13:00:00Z',
    ],
    ['is told without a time where there is none', [{ manager: 'old', fieldsV1: owns(UID) }], 'old'],
    [
      'is told with fields of the item below it, as older servers book them',
      [entry('old', { 'f:metadata': { 'f:ownerReferences': { [`k:{"uid":"${UID}"}`]: { '.': {}, 'f:kind': {} } } } })],
      'old (Update) at 2026-11-22T13:00:00Z',
    ],
    ['is not who owns another reference', [entry('flux', owns('other'), at('09'))], undefined],
    ['is not who owns the list alone', [entry('flux', { 'f:metadata': { 'f:ownerReferences': {} } })], undefined],
    ['is not who owns such an item elsewhere', [entry('flux', { 'f:spec': owns(UID)['f:metadata'] ?? {} })], undefined],
    ['is nobody without a name', [entry('', owns(UID))], undefined],
    ['is not known where nothing is booked', [], undefined],
    ['is not known where the server keeps no book', undefined, undefined],
  ];
  for (const [title, managedFields, wanted] of cases)
    it(title, () => {
      const writer = referenceWriter(managedFields, UID);
      assert.equal(writer && writerText(writer), wanted);
    });
});
