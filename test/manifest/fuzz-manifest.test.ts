import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Fault } from '../../src/kernel/fault.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import { damaged, FUZZ_RUNS, valueOrFault, yamlText } from '../support/fuzz.ts';

const MANIFEST = `# The release's own words.
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: kube-system
data:
  mtu: "1440"
  cni_network_config: |-
    {
      "name": "net",
      "mtu": __CNI_MTU__
    }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node, namespace: kube-system}
spec:
  template:
    spec:
      containers:
        - name: c
          image: docker.io/calico/node:v3.27.2
          env: [{name: A, value: 'x'}]
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: node
`;
const OBJECTS = parseManifest(MANIFEST, 'm.yaml').documents.map(({ object }) => object);

function isWhole({ apiVersion, kind, metadata }: KubeObject): boolean {
  return [apiVersion, kind, metadata.name].every((text) => typeof text === 'string' && text !== '');
}

/** A manifest of whole objects which reads back from its own text, or a Fault with file and line. */
function reads(text: string): void {
  const manifest = valueOrFault(() => parseManifest(text, 'm.yaml'), 'usage');
  if (manifest instanceof Fault) {
    assert.match(manifest.message, /^m\.yaml:\d+: /);
    return;
  }
  const objects = manifest.documents.map(({ object }) => object);
  assert.ok(objects.every(isWhole));
  const again = parseManifest(manifestText(objects), 'again.yaml').documents.map(({ object }) => object);
  assert.deepEqual(again, objects);
}

describe('any file given as a manifest', () => {
  it('is read, or refused with its line: pieces of YAML in any order', () => {
    fc.assert(fc.property(yamlText, reads), { numRuns: FUZZ_RUNS });
  });

  it('is read, or refused with its line: a manifest that was damaged', () => {
    fc.assert(fc.property(damaged(MANIFEST), reads), { numRuns: FUZZ_RUNS });
  });

  it('is read, or refused with its line: any text at all', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 100 }), reads), { numRuns: FUZZ_RUNS });
  });

  it('means the same with other line ends, a byte order mark, comments, and blank documents', () => {
    const way = fc.record({
      crlf: fc.boolean(),
      bom: fc.boolean(),
      head: fc.constantFrom('', '---\n', '# x\n', '\n\n', '# x\n---\n---\n'),
      tail: fc.constantFrom('', '---\n', '---', '\n# end', '---\n# nothing\n---\n', '\n   \n'),
    });
    fc.assert(
      fc.property(way, ({ crlf, bom, head, tail }) => {
        const text = `${bom ? '\uFEFF' : ''}${head}${MANIFEST}${tail}`;
        const { documents } = parseManifest(crlf ? text.replaceAll('\n', '\r\n') : text, 'm.yaml');
        assert.deepEqual(
          documents.map(({ object }) => object),
          OBJECTS,
        );
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  for (const [title, text] of [
    [
      'aliases that grow without bound',
      [
        'a: &a [x,x,x,x,x,x,x,x,x,x]',
        ...'bcdefghi'.split('').map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(10)}]`),
      ].join('\n'),
    ],
    ['an alias of itself', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &a {b: *a}\n'],
    ['a merge of itself', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &a {<<: *a}\n'],
    ['brackets in brackets', '['.repeat(5_000)],
    ['maps in maps by indentation', Array.from({ length: 1_500 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['lists in lists on one line', `${'- '.repeat(5_000)}a`],
    ['keys of keys', `${'? '.repeat(3_000)}a`],
    ['a key that is a map', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n? {a: b}\n: c\n'],
    ['a scalar of two million characters', `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "${'x'.repeat(2_000_000)}"}\n`],
  ] as const) {
    it(`is read, or refused with its line: ${title}`, () => {
      const manifest = valueOrFault(() => parseManifest(text, 'm.yaml'), 'usage');
      if (manifest instanceof Fault) assert.match(manifest.message, /^m\.yaml:\d+: /);
      else assert.ok(JSON.stringify(manifest.documents).length < 40_000_000);
    });
  }
});
