import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'yaml';
import { documentsIn, editedManifest, editedManifests, objectName } from './edited-manifests.ts';
import { editsBetween, withEdits } from './manifest-edits.ts';

const word = fc.constantFrom('a', 'b', 'c', 'd');
const text = fc.oneof(
  word,
  fc.array(word, { maxLength: 6 }).map((words) => words.join('\n')),
);
const { any } = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer({ min: 0, max: 3 }),
    fc.boolean(),
    fc.array(tie('any'), { maxLength: 5 }),
    fc.uniqueArray(fc.record({ name: word, own: tie('any') }), { maxLength: 4, selector: ({ name }) => name }),
    fc.uniqueArray(fc.record({ name: word, mountPath: word }), { maxLength: 4, selector: ({ mountPath }) => mountPath }),
    fc.dictionary(word, tie('any'), { maxKeys: 4 }),
  ),
}));
/** As it is read from a file. */
const value = any.map((one) => JSON.parse(JSON.stringify(one)) as unknown);

describe('edits between two values', () => {
  it('lead from one to the other, in data that can be written down', () => {
    fc.assert(
      fc.property(value, value, (from, to) => {
        const edits = JSON.parse(JSON.stringify(editsBetween(from, to)));
        assert.deepEqual(withEdits(from, edits), to);
      }),
      { numRuns: 500 },
    );
  });

  it('are none where nothing differs', () => {
    fc.assert(fc.property(value, (one) => assert.deepEqual(editsBetween(one, structuredClone(one)), [])));
  });

  it('are one for each field, and keep of a text of several lines only what differs', () => {
    const from = { list: [{ name: 'a', image: 'x' }, { name: 'b' }], text: '1\n2\n3', same: [1] };
    const to = { list: [{ name: 'b' }, { name: 'a', image: 'y' }, { name: 'c' }], text: '1\n2\nnew\n3', same: [1] };
    assert.deepEqual(editsBetween(from, to), [
      { path: ['list', { name: 'a' }, 'image'], value: 'y' },
      { path: ['list', { name: 'c' }], value: { name: 'c' } },
      { path: ['list'], order: { name: ['b', 'a', 'c'] } },
      { path: ['text'], changes: [{ at: 2, gone: 0, come: ['new'] }] },
    ]);
  });

  for (const [title, edit] of [
    ['to remove', { path: ['a', 'b'], removed: true }],
    ['to edit', { path: ['b', 'c'], value: 1 }],
  ] as const)
    it(`are refused where there is nothing ${title}`, () => assert.throws(() => withEdits({ a: {} }, [edit]), /^Error: no \["/));
});

describe('manifests as people edited them', () => {
  it('name whose they are, and their licence', () => {
    for (const [name, { source }] of Object.entries(editedManifests))
      assert.match(source, /^[\w.-]+\/[\w.-]+, \S+, commit [0-9a-f]{40} \(\d{4}-\d\d-\d\d\); licence: \S/, name);
  });

  it('have the value of each edit', () => {
    const objects = documentsIn(editedManifest('calico-v3.25.0-zakaria-statistics')).map(({ object }) => object);
    const agent = objects.find((object) => objectName(object) === 'DaemonSet/kube-system/calico-node');
    assert.ok(agent);
    const told = JSON.stringify(agent);
    for (const edit of editedManifests['calico-v3.25.0-zakaria-statistics']?.edits ?? [])
      if (edit.object === objectName(agent) && edit.value !== undefined) assert.ok(told.includes(JSON.stringify(edit.value)), told);
  });

  it('have the line ends, and the texts in quotes, that some of them have', () => {
    const ends = editedManifest('typha-v3.25.1-dotbalo');
    assert.equal(ends.match(/\r\n/g)?.length, ends.match(/\n/g)?.length);
    assert.throws(() => parse(editedManifest('calico-v3.19.1-kubecube-io').split(/^---$/m)[2] ?? ''), /Missing closing 'quote/);
  });
});
