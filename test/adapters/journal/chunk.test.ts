import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { CHUNK_BYTES, packChunks, unpackChunk } from '../../../src/adapters/journal/chunk.ts';
import { ownerEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { DEPENDENT, entryFor, reference } from '../../support/owner-entries.ts';

const WHOSE = { clusterUid: 'uid', runId: 'r', append: 1 };
const noise = (seed: number) => createHash('sha512').update(String(seed)).digest('base64url');

describe('chunks of the journal of owner references', () => {
  it('are made smaller until each fits, and lose nothing, where text cannot be compressed', async () => {
    const made = Array.from({ length: 5000 }, (_, index) =>
      entryFor([reference('v3:a', { uid: [0.1, 0.2, 0.3, 0.4].map((part) => noise(index + part)).join('') })], {
        ...DEPENDENT,
        name: noise(index + 0.5),
        uid: noise(index + 0.6),
      }),
    );
    const chunks = await packChunks(made, WHOSE);
    assert.deepEqual(
      chunks.filter(({ bytes }) => bytes.length > CHUNK_BYTES).map(({ bytes }) => bytes.length),
      [],
    );
    const read = await Promise.all(chunks.map(({ bytes }) => unpackChunk(bytes, ownerEntries)));
    assert.deepEqual(
      read.flatMap(({ entries }) => entries),
      made,
    );
    assert.deepEqual(
      read.map(({ header }) => [header.number, header.of]),
      chunks.map((_, index) => [index + 1, chunks.length]),
    );
  });

  it('of a newer layout are refused', async () => {
    const header = JSON.stringify({ ...WHOSE, version: 2, number: 1, of: 1, entries: 0 });
    await assert.rejects(unpackChunk(gzipSync(`${header}\n`), ownerEntries), /has version 2; this program knows 1/);
  });
});
