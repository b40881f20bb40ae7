import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { readPlain } from '../../../src/adapters/kubeconfig/plain.ts';

const RUNS = process.env.NIGHTLY ? 10_000 : 500;

const word = fc.oneof(
  fc.stringMatching(/^[A-Za-z/.-][A-Za-z0-9./@+=:-]{0,12}$/),
  fc.constantFrom('yes', '1', 'a b', 'a: b', 'a, b', '{a}', '[', '', '#', 'a #b', '"', "'", '- a', 'null', '~', 'https://a:1'),
);
const key = fc.constantFrom('name', 'cluster', 'certificate-authority-data', 'a');
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, word, fc.boolean(), fc.constant(null), tie('list'), tie('mapping')),
  list: fc.array(tie('tree'), { maxLength: 4 }),
  mapping: fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
}));
const document = fc.dictionary(key, tree, { minKeys: 1, maxKeys: 4, noNullPrototype: true });

/** Marks with a meaning in YAML, and letters, in any order. */
const noise = fc.array(
  fc.constantFrom('a', 'b-c', ': ', ':', ', ', ',', '{', '}', '[', ']', '\n', ' ', '- ', '"', "'", '#', '1', '&a ', '!'),
  {
    maxLength: 24,
  },
);

describe('a plain kubeconfig, beside a library for YAML', () => {
  for (const collectionStyle of ['any', 'flow', 'block'] as const)
    for (const lineWidth of [0, 20])
      it(`means the same or is left to kubectl: ${collectionStyle} in lines of ${lineWidth}`, () => {
        let read = 0;
        fc.assert(
          fc.property(document, (value) => {
            const text = stringify(value, { collectionStyle, lineWidth });
            const own = readPlain(text);
            if (own === undefined) return;
            read += 1;
            assert.deepEqual(own, value, text);
          }),
          { numRuns: RUNS },
        );
        assert.ok(read > RUNS / 20, `${read} of ${RUNS} were read`);
      });

  it('means the same or is left to kubectl where it is hardly YAML', () => {
    fc.assert(
      fc.property(noise, (parts) => {
        const text = `a: ${parts.join('')}`;
        const own = readPlain(text);
        if (own !== undefined) assert.deepEqual(own, parse(text), text);
      }),
      { numRuns: RUNS * 4 },
    );
  });
});
