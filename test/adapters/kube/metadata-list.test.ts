import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type MetadataPage, MetadataReader } from '../../../src/adapters/kube/metadata-list.ts';
import { reference, referenceLists } from '../../support/owner-entries.ts';
import { type ListItem, metadataList } from './metadata-list.ts';

const TEXT = 'projectcalico.org/';

/** Reads the body in pieces, cut wherever the network may cut it. */
function readInPieces(body: Uint8Array, sizes: readonly number[], texts = [TEXT]): MetadataPage {
  const reader = new MetadataReader(texts);
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const end = at + (sizes[turn % sizes.length] ?? body.length);
    reader.take(body.subarray(at, end));
    at = end;
  }
  return reader.page();
}

const items: fc.Arbitrary<readonly ListItem[]> = fc.array(
  fc.record({
    metadata: fc.record(
      {
        name: fc.string({ minLength: 1, unit: 'grapheme' }),
        uid: fc.uuid(),
        resourceVersion: fc.constant('9'),
        ownerReferences: referenceLists,
      },
      { noNullPrototype: true },
    ),
    noise: fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(Buffer.from(`x${TEXT}y`))),
  }),
);

describe('a metadata list in protobuf', () => {
  it('gives the metadata of exactly the items that hold the text, however it is cut into pieces', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 });
    fc.assert(
      fc.property(items, sizes, fc.string(), (list, cuts, token) => {
        const page = readInPieces(metadataList(list, token), cuts);
        const holding = list.filter((item) => metadataList([item]).includes(TEXT));
        assert.deepEqual(
          page.items,
          holding.map(({ metadata }) => metadata),
        );
        assert.deepEqual([page.read, page.token], [list.length, token]);
      }),
    );
  });

  it('keeps flags as they were said: true, false or not at all', () => {
    const owners = [reference('v3:a', { controller: true, blockOwnerDeletion: false }), reference('v3:b')];
    const body = metadataList([{ metadata: { name: 'd', namespace: 's', ownerReferences: owners } }]);
    const { items: found } = readInPieces(body, [7]);
    assert.deepEqual(found, [{ name: 'd', namespace: 's', ownerReferences: owners }]);
  });

  it('finds any of several texts', () => {
    const body = metadataList(
      ['v3:a', 'apps:b', 'crd:c'].map((text) => ({ metadata: { name: text, ownerReferences: [reference(text)] } })),
    );
    const { items: found } = readInPieces(body, [50], ['apps/', 'crd/']);
    assert.deepEqual(
      found.map(({ name }) => name),
      ['apps:b', 'crd:c'],
    );
  });

  it('is refused if it ends anywhere before its end', () => {
    const body = metadataList([{ metadata: { name: 'd', ownerReferences: [reference('v3:a')] } }]);
    const trailer = 4; // the envelope's empty fields behind the list
    for (let length = 0; length < body.length - trailer; length += 1)
      assert.throws(() => readInPieces(body.subarray(0, length), [64]), RangeError, `${length} bytes`);
  });

  it('is refused if it is something else', () => {
    for (const body of [Buffer.from('{"items":[]}'), Buffer.from('k8s\0\x0b\x00\x00')])
      assert.throws(() => readInPieces(body, [64]), RangeError);
  });
});
