import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { readPlain } from '../../../src/adapters/kubeconfig/plain.ts';
import { readDocument } from '../../../src/adapters/kubeconfig/read.ts';
import { readOwnForm } from '../../../src/adapters/kubeconfig/view.ts';

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

describe('a kubeconfig in the form in which kubectl writes it', () => {
  const WRITTEN = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLQ==
    server: https://b.example:6443
  name: b
- cluster:
    server: https://a.example
  name: a
contexts:
- context:
    cluster: b
    namespace: team
    user: b
  name: b
- context:
    cluster: a
    user: a
  name: a
current-context: b
kind: Config
preferences: {}
users:
- name: b
  user:
    client-certificate-data: LS0tLS0t
    client-key-data: LS0tLQ==
- name: a
  user:
    token: t.o-k_en
`;
  const lines = WRITTEN.split('\n');
  const places = fc.nat(lines.length - 1);
  const change = fc.oneof(
    fc.tuple(places, places).map(
      ([from, to]) =>
        (all: string[]) =>
          void all.splice(to, 0, all[from] ?? ''),
    ),
    places.map((at) => (all: string[]) => void all.splice(at, 1)),
    fc.tuple(places, fc.nat(30), fc.constantFrom('=', ' ', '"', ':', '#', 'yes', '1', '\t', 'ü', '- ', '')).map(
      ([at, place, mark]) =>
        (all: string[]) =>
          void all.splice(at, 1, `${all[at]?.slice(0, place)}${mark}${all[at]?.slice(place + 1)}`),
    ),
  );

  it('is read without going through its lines', () => {
    assert.deepEqual(readOwnForm(WRITTEN), readDocument(readPlain(WRITTEN)));
    assert.deepEqual(readOwnForm(WRITTEN.trimEnd()), readDocument(readPlain(WRITTEN)), 'a last line without its end');
    assert.deepEqual(
      readOwnForm(WRITTEN)?.users?.map(({ name }) => name),
      ['a', 'b'],
    );
  });

  it('means the same as line by line, or is left to that, whatever is changed in it', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
        const all = [...lines];
        for (const one of changes) one(all);
        const text = all.join('\n');
        const own = readOwnForm(text);
        if (own === undefined) return;
        read += 1;
        assert.deepEqual(own, readDocument(readPlain(text)), text);
      }),
      { numRuns: 10 * RUNS },
    );
    assert.ok(read > RUNS / 10, `${read} were read`);
  });
});
