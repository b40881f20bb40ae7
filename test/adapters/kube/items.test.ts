import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { listAll, readItems } from '../../../src/adapters/kube/items.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';

/** The bytes, in chunks of a size. */
function body(text: string, size: number): IncomingMessage {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
  return Object.assign(Readable.from(chunks), { headers: {} }) as unknown as IncomingMessage;
}

/** Lists of at most `small` bytes are parsed at once. */
async function read(text: string, size = 16_384, small = 0): Promise<{ readonly list: unknown; readonly items: readonly unknown[] }> {
  const items: unknown[] = [];
  const list = await readItems(body(text, size), (item) => items.push(item), small);
  return { list, items };
}

const item = (name: string) => ({ metadata: { name, labels: { a: 'x,y', b: '"}]' } }, spec: { list: [{ k: 'ü\\' }, [1, 2], []] } });
const metadata = { resourceVersion: '7', continue: 'next,{[', remainingItemCount: 3 };

describe('items of a list, read as they arrive', () => {
  for (const [title, list] of [
    ['items in the middle', { kind: 'PodList', items: [item('a'), item('b')], metadata }],
    ['items at the end', { apiVersion: 'v1', metadata, items: [item('a'), item('b'), item('c')] }],
    ['one item', { metadata, items: [item('a')] }],
    ['no items', { metadata, items: [] }],
    ['null for items', { metadata, items: null }],
  ] as const) {
    it(`reads ${title}, whatever the chunks`, async () => {
      for (const text of [JSON.stringify(list), JSON.stringify(list, undefined, 2)]) {
        for (const size of [1, 2, 3, 7, 64, 16_384]) {
          for (const small of [0, 100, 100_000]) {
            const seen = await read(text, size, small);
            assert.deepEqual(seen.items, list.items ?? []);
            assert.deepEqual(seen.list, { ...list, items: list.items && [] });
          }
        }
      }
    });
  }

  it('refuses what is cut off, and what is no JSON', async () => {
    const text = JSON.stringify({ metadata, items: [item('a'), item('b')] });
    for (const small of [0, 100_000])
      for (const wrong of [text.slice(0, -30), '<html>not here</html>', '']) await assert.rejects(read(wrong, 64, small), SyntaxError);
  });

  it('is refused once its pages are too large together, with the namespace that most of it is in', async () => {
    const page = (namespace: string) =>
      JSON.stringify({
        metadata: { continue: 'next' },
        items: [item('a'), item('b')].map((one) => ({ ...one, metadata: { name: 'p', namespace } })),
      });
    let asked = 0;
    const transport = {
      read(_call: unknown, use: (message: IncomingMessage) => Promise<unknown>) {
        asked += 1;
        return use(body(page(asked % 3 === 0 ? 'shop' : 'flood'), 64));
      },
    } as unknown as Parameters<typeof listAll>[0];
    for (const keep of [undefined, (one: KubeObject) => one]) {
      asked = 0;
      const refused = {
        reason: 'TooLarge',
        message: /^the list of pods is too large to be read: \d+ of the first \d+ are in namespace flood$/,
      };
      await assert.rejects(listAll(transport, K.Pod, keep ? { keep } : {}, 2, { whole: 2000, cut: 2000 }), refused);
      assert.ok(asked > 5 && asked < 20, `${asked}`);
    }
  });
});
