import assert from 'node:assert/strict';
import {
  changedPlaces,
  changeTo,
  isUndone,
  type KeptChange,
  keptChanges,
  placesIn,
  putOp,
  standing,
  valueIn,
} from '../../src/kernel/object-change.ts';
import type { KeptItem, KeptOutcome } from '../../src/kernel/run-record.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';
import { object } from '../fixtures/facts.ts';

const PLACE = '/metadata/labels/a~1b';
const node = (value?: string) => object('v1', 'Node/n', { metadata: { labels: { own: 'x', ...(value ? { 'a/b': value } : {}) } } });
const DONE: KeptOutcome = { done: true };

/** What was kept before the label went from one value to another; `-` is none. */
function kept(step: string, number = 1): KeptItem {
  const [, undo, from, to, outcome] = /^(undo )?(\S+) → (\S+?)( done)?$/.exec(step) ?? assert.fail(step);
  const places = (value = '-') => (value === '-' ? {} : { [PLACE]: value });
  const change = { ref: { apiVersion: 'v1', kind: 'Node', name: 'n' }, before: places(from), after: places(to) };
  const content = { changes: [change], ...(undo ? { undo: true } : {}) };
  return { id: `r1/hep/x#${number}`, content, ...(outcome ? { outcome: DONE } : {}) };
}
const readFrom = (items: readonly KeptItem[], isOwn = (_: unknown) => true) => keptChanges({ keptWith: async () => items }, 'hep', isOwn);

describe('what is there now, of a place that was changed', () => {
  const rows: readonly (readonly [steps: readonly string[], now: string | undefined, is: string])[] = [
    [['- → new done'], 'new', 'ours'],
    [['- → new done'], undefined, 'former'],
    [['- → new done'], 'theirs', 'other'],
    [['old → new done'], 'new', 'ours'],
    [['old → new done'], 'old', 'former'],
    [['old → new done'], undefined, 'other'],
    [['old → - done'], undefined, 'ours'],
    [['old → - done'], 'old', 'former'],
    [['old → - done'], 'theirs', 'other'],
    [['old → new done', 'new → newer done'], 'newer', 'ours'],
    [['old → new done', 'new → newer done'], 'new', 'former'],
    [['old → new done', 'new → newer done'], 'old', 'other'],
    [['old → new done', 'undo theirs → merged'], 'merged', 'former'],
    [['old → new done', 'undo theirs → merged'], 'new', 'ours'],
    [['old → new done', 'undo new → old done'], 'new', 'ours, undone'],
    [['old → new done', 'undo new → old done'], 'theirs', 'other, undone'],
    [['old → new done', 'undo new → old done', 'old → new done'], 'new', 'ours'],
    [['old → new done', 'undo new → old done', 'undo new → old'], 'new', 'ours'],
  ];
  for (const [steps, now, is] of rows)
    it(`is ${is} where it went ${steps.join(', then ')}, and is ${now ?? 'empty'}`, async () => {
      const places = changedPlaces(await readFrom(steps.map((step, index) => kept(step, index + 1))));
      assert.deepEqual(
        places.map((one) => `${standing(one, node(now))}${isUndone(one) ? ', undone' : ''}`),
        [is],
      );
    });

  it('is nobody’s where only an undo is known', async () => assert.deepEqual(changedPlaces(await readFrom([kept('undo new → old')])), []));
});

describe('what was kept', () => {
  const good = { ref: { apiVersion: 'v1', kind: 'Node', name: 'n' }, before: {}, after: { [PLACE]: 'x' } };
  const odd: readonly unknown[] = [
    null,
    'x',
    [],
    {},
    { changes: 3 },
    { changes: [null, 7, 'x', []] },
    { changes: [{ ...good, ref: { apiVersion: 'v1', kind: 'Node' } }] },
    { changes: [{ ...good, ref: { ...good.ref, uid: 7 } }] },
    { changes: [{ ...good, before: undefined }] },
    { changes: [{ ...good, after: { 'no/pointer': 1 } }] },
  ];
  for (const content of odd)
    it(`is passed over where it is no change: ${JSON.stringify(content)}`, async () =>
      assert.deepEqual(await readFrom([{ id: 'r/hep/x#1', content }]), []));

  it('is passed over where the stage cannot have made it, and only that', async () => {
    const content = { changes: [good, { ...good, ref: { ...good.ref, kind: 'Secret' } }], undo: 1, since: 2 };
    const read = await readFrom([{ id: 'r/hep/x#1', content }], (one) => (one as KeptChange).ref.kind === 'Node');
    assert.deepEqual(read, [{ id: 'r/hep/x#1', content, ...good, isUndo: false }]);
  });

  it('comes run by run, each in the order of keeping', async () => {
    const ids = ['r2/hep/x#1', 'r1/hep/x#10', 'r1/hep/y#9'];
    const read = await readFrom(ids.map((id) => ({ ...kept('- → x'), id })));
    assert.deepEqual(
      read.map(({ id }) => id),
      ['r1/hep/y#9', 'r1/hep/x#10', 'r2/hep/x#1'],
    );
  });
});

describe('a change of places', () => {
  it('says what was there and what comes, and each back and forth by a patch', () => {
    const wanted = { ...placesIn(['metadata', 'labels'], { 'a/b': 'new' }), '/metadata/labels/own': undefined };
    const before = node('old');
    const change = changeTo(before, wanted);
    assert.deepEqual(change, {
      ref: { apiVersion: 'v1', kind: 'Node', name: 'n' },
      before: { [PLACE]: 'old', '/metadata/labels/own': 'x' },
      after: { [PLACE]: 'new' },
    });
    const places = Object.keys(wanted);
    const put = (from: typeof before, to: (place: string) => unknown) =>
      applyJsonPatch(
        from,
        places.map((place) => putOp(from, place, to(place))),
      );
    const after = put(before, (place) => wanted[place as keyof typeof wanted]);
    assert.deepEqual(after.metadata.labels, { 'a/b': 'new' });
    assert.deepEqual(
      put(after, (place) => valueIn(before, place)),
      before,
    );
  });

  it('can be of the whole object', () =>
    assert.deepEqual(changeTo(node(), { '': undefined }), {
      ref: { apiVersion: 'v1', kind: 'Node', name: 'n' },
      before: { '': node() },
      after: {},
    }));
});
