import assert from 'node:assert/strict';
import { PackedText } from '../../src/kernel/packed-text.ts';

describe('a packed text', () => {
  it('is what it was, however long its lines are and wherever a sign of several bytes falls', async () => {
    const cases: readonly (readonly string[])[] = [
      [],
      [''],
      ['one\n'],
      Array.from({ length: 5000 }, (_, index) => `${'ä€𝄞'.repeat(index % 40)}${index}\n`),
      ['€'.repeat(200_000), 'x'],
    ];
    for (const lines of cases) {
      const packed = await PackedText.of(lines);
      const bytes: Uint8Array[] = [];
      for await (const piece of packed.pieces()) bytes.push(piece);
      assert.equal(Buffer.concat(bytes).toString('utf8'), lines.join(''));
      assert.deepEqual([await packed.text(), packed.length], [lines.join(''), lines.join('').length]);
    }
  });
});
