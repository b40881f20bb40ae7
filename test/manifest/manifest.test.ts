import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { Fault } from '../../src/kernel/fault.ts';
import { manifestOf, manifestText, parseManifest, readManifest } from '../../src/manifest/manifest.ts';
import { editedManifest } from '../support/edited-manifests.ts';
import { manifestFile } from '../support/releases.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n';
const dataOf = (text: string) => parseManifest(`${head}data: {key: ${text}}\n`, 'm.yaml').documents[0]?.object.data;
const refusal = (text: string) => {
  try {
    parseManifest(text, 'm.yaml');
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
  }
  return undefined;
};

describe('reading a manifest', () => {
  const scalars: readonly [string, unknown][] = [
    ['yes', true],
    ['"yes"', 'yes'],
    ['off', false],
    ['0400', 256],
    ['0o400', 256],
    ['1_000', 1000],
    ['e39', 'e39'],
    ['-E5', '-E5'],
    ['.', '.'],
    ['.e1', '.e1'],
    ['.5e1', 5],
    ['1.e1', 10],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['v3.32.1', 'v3.32.1'],
    ['~', null],
  ];
  for (const [text, value] of scalars) {
    it(`takes ${text} for ${JSON.stringify(value)}, as kubectl does`, () => assert.deepEqual(dataOf(text), { key: value }));
  }

  it('takes a bare n for the key "false", as kubectl does', () => {
    assert.deepEqual(parseManifest(`${head}data: {n: x}`, 'm.yaml').documents[0]?.object.data, { false: 'x' });
  });

  it('keeps the text and the line of each document and drops empty ones', () => {
    const second = '# why\napiVersion: v1\nkind: Secret\nmetadata:\n  name: two   # kept\n';
    const { documents } = parseManifest(`\uFEFF---\r\n# nothing\r\n---\n${head}--- # next\n${second}---\n`, 'm.yaml');
    assert.deepEqual(
      documents.map(({ text, line, object }) => [text, line, object.metadata.name]),
      [
        [head, 4, 'one'],
        [second, 9, 'two'],
      ],
    );
  });

  it('keeps content behind the dashes', () => {
    const { documents } = parseManifest(`${head}--- {apiVersion: v1, kind: Secret, metadata: {name: two}}\n---\n${head}`, 'm.yaml');
    assert.deepEqual(
      documents.map(({ object, line }) => [object.kind, line]),
      [
        ['ConfigMap', 1],
        ['Secret', 4],
        ['ConfigMap', 6],
      ],
    );
  });

  it('expands a List', () => {
    const items = '[{apiVersion: v1, kind: A, metadata: {name: a}}, {apiVersion: v1, kind: B, metadata: {name: b}}]';
    const { documents } = parseManifest(`apiVersion: v1\nkind: List\nitems: ${items}`, 'm.yaml');
    assert.deepEqual(
      documents.map(({ object }) => object.kind),
      ['A', 'B'],
    );
    assert.deepEqual(parseManifest(documents[1]?.text ?? '', 'x').documents[0]?.object, documents[1]?.object);
  });

  it('lets the last of two equal keys count and says where they are', () => {
    const { documents, notes } = parseManifest(`${head}data:\n  a: old\n  a: new\n`, 'm.yaml');
    assert.deepEqual(documents[0]?.object.data, { a: 'new' });
    assert.equal(notes?.length, 1);
    assert.match(notes?.[0] ?? '', /^m\.yaml:6: the key "a"/);
  });

  const bomb = [
    'a: &a [1,1,1,1,1,1,1,1,1,1]',
    ...'bcdefgh'.split('').map((one, at) => `${one}: &${one} [${`*${'abcdefgh'[at]},`.repeat(9)}]`),
  ];
  const refused: readonly [string, string, RegExp][] = [
    ['a syntax error, with its line', `${head}---\n${head}data: [\n`, /^m\.yaml:9: not valid YAML/],
    ['an object without a name', `${head}---\napiVersion: v1\nkind: A\n`, /^m\.yaml:5: the document has no metadata\.name/],
    ['a document that is no object', `- a\n`, /^m\.yaml:1: the document is not a Kubernetes object/],
    ['a file that is not text', `${head}\0`, /^m\.yaml:4: the file is not text/],
    ['aliases that grow without bound', bomb.join('\n'), /^m\.yaml:1: /],
    [
      'aliases without number',
      `a: &a b\n${'c: *a\n'.repeat(2000)}`,
      /^m\.yaml:1: not valid YAML: it has more than 1000 anchors and aliases/,
    ],
    ['nesting without bound', '['.repeat(100_000), /^m\.yaml:1: /],
    ['a file above the limit', ' '.repeat(20_000_001), /larger than 20 MB/],
  ];
  for (const [title, text, message] of refused) {
    it(`refuses ${title}`, () => {
      const fault = refusal(text);
      assert.equal(fault?.code, 'usage');
      assert.match(fault?.message ?? '', message);
      assert.ok(fault?.suggestions.length);
    });
  }
});

describe('writing a manifest', () => {
  const strings = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      'yes',
      'n',
      '0400',
      '0o17',
      '1:30',
      '2001-01-01',
      '<<',
      '=',
      '.5',
      '0x1F',
      '~',
      'null',
      '1e3',
      'a\r\nb\n',
      ' x\n\ty ',
      '# c',
      '---\nb',
    ),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, strings, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    map: fc.dictionary(strings, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  }));

  it('reads back to the same objects', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 3 }), (values) => {
        const objects = values.map((data) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data }));
        const read = parseManifest(manifestText(objects), 'x').documents.map(({ object }) => object);
        assert.deepEqual(read, objects);
      }),
    );
  });

  it('keeps the values of a whole release', async () => {
    const file = manifestFile('v3.32.1', 'calico.yaml');
    const objects = parseManifest(await readFile(file, 'utf8'), 'calico.yaml').documents.map(({ object }) => object);
    assert.equal(objects.length, 38);
    assert.deepEqual(
      parseManifest(manifestText(objects), 'x').documents.map(({ object }) => object),
      objects,
    );
  });

  it('repeats of a very long line only its beginning', () => {
    assert.throws(
      () => parseManifest(`>"${'x'.repeat(5_000)}`, 'm.yaml'),
      (thrown: Error) => /^m\.yaml:1: /.test(thrown.message) && thrown.message.length < 500,
    );
  });
});

const artifact = (text: string) => ({ url: 'u', file: 'f', bytes: new TextEncoder().encode(text), sha256: '' });

describe('the manifest in an artifact', () => {
  it('is read once for each artifact', async () => {
    const one = artifact('apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n');
    assert.equal(await manifestOf(one), await manifestOf(one));
    assert.equal((await manifestOf(one)).documents[0]?.object.metadata.name, 'a');
  });

  it('is never that of another one', async () => {
    const named = (name: string) => manifestOf(artifact(`apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`));
    assert.notDeepEqual((await named('a')).documents, (await named('b')).documents);
  });
});

const FEW = 500;
/** Several times what is read without a pause. */
const PAUSES_MS = 600;

describe('a long manifest', function () {
  this.timeout(60_000);
  const object = (name: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: {a: 'x', b: "y", c: 1e3}}`;
  const names = (count: number) => Array.from({ length: count }, (_, at) => `a${at}`);
  const TEXTS: Readonly<Record<string, (count: number) => string>> = {
    'of many documents': (count) =>
      names(count)
        .map((name) => `---\n${object(name)}\n`)
        .join(''),
    'that is one List': (count) =>
      `kind: List\nitems:\n${names(count)
        .map((name) => `- ${object(name)}\n`)
        .join('')}`,
  };

  /** As many objects as take this machine some pauses. */
  function countOf(make: (count: number) => string): number {
    const began = performance.now();
    parseManifest(make(FEW), 'x');
    return Math.ceil((FEW * PAUSES_MS) / Math.min(PAUSES_MS, performance.now() - began));
  }

  for (const [title, make] of Object.entries(TEXTS))
    it(`${title} is read with pauses, in which timers and signals are heard`, async () => {
      const count = countOf(make);
      const text = make(count);
      let heard = 0;
      const timer = setInterval(() => (heard += 1), 5);
      const { documents } = await readManifest(text, 'x').finally(() => clearInterval(timer));
      assert.deepEqual([documents.length, documents.at(-1)?.object.metadata.name], [count, `a${count - 1}`]);
      assert.ok(heard >= 2, `${heard} pauses`);
    });

  it('is refused with its line where reading takes too long', () => {
    const text = `---\n${object('a')}\n---\n${object('b')}\n`;
    assert.throws(() => parseManifest(text, 'm.yaml', 0), /^Fault: m\.yaml:2: reading takes longer than 0 s$/);
  });

  it('refuses what readManifest refuses', async () => {
    await assert.rejects(readManifest('---\na: [', 'm.yaml'), /m\.yaml:2: not valid YAML/);
    const [make] = Object.values(TEXTS);
    assert.ok(make);
    // The time is looked at after each piece: a text of several pieces, and no machine is quick enough for no time at all.
    await assert.rejects(readManifest(make(countOf(make)), 'm.yaml', 0), /m\.yaml:\d+: reading takes longer than 0 s/);
  });
});

const HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n';
const read = (data: string) => {
  const { documents, notes = [] } = parseManifest(`# first\n---\n${HEAD}data:\n${data}`, 'f.yaml');
  return { data: documents[0]?.object.data, notes, text: documents[0]?.text };
};

describe('a text in quotes whose later lines are not indented', () => {
  const cases: readonly (readonly [string, string, unknown])[] = [
    ['at the column of its key', "  a: 'one\n  two'\n  b: c\n", { a: 'one two', b: 'c' }],
    ['left of its key', "  a: 'one\ntwo\n  three'\n", { a: 'one two three' }],
    ['in double quotes, with an escaped one inside', '  a: "one\n  \\"two\\""\n', { a: 'one "two"' }],
    ['with doubled quotes inside', "  a: 'it''s\n  two'\n", { a: "it's two" }],
    ['with an empty line, which is a line break', "  a: 'one\n\n  two'\n", { a: 'one\ntwo' }],
    ['only in its third line', "  a: 'one\n    two\n  three'\n", { a: 'one two three' }],
    ['more than once', "  a: 'one\n  two'\n  b: 'three\n  four'\n", { a: 'one two', b: 'three four' }],
  ];
  for (const [title, text, wanted] of cases) it(`is read as kubectl reads it: ${title}`, () => assert.deepEqual(read(text).data, wanted));

  it('is noted with line and column, and sent as it stands', () => {
    const { notes, text } = read("  x: y\n  a: 'one\n  two'\n");
    assert.deepEqual(notes.length, 1);
    assert.match(notes[0] ?? '', /^f\.yaml:9:6: lines of a quoted text .* Indent its later lines\.$/);
    assert.ok(text?.includes("'one\n  two'"));
  });

  it('is not looked for where the YAML is right', () => {
    const block = "  a: |\n    k: 'one\n    two'\n";
    assert.deepEqual(read(block), { data: { a: "k: 'one\ntwo'\n" }, notes: [], text: `${HEAD}data:\n${block}` });
  });

  for (const [title, text] of [
    ['a quote that nobody closes', "  a: 'one\n  b: c\n"],
    ['a quote that another text closes', "  a: 'one\n  b: 'c'\n"],
  ] as const) {
    it(`is not made of ${title}: the file is refused at its own line`, () =>
      assert.throws(() => read(text), { code: 'usage', message: /^f\.yaml:(8|9|10): not valid YAML/ }));
  }

  it('is no reason to refuse a file from the field', () => {
    const { documents, notes = [] } = parseManifest(editedManifest('calico-v3.19.1-kubecube-io'), 'calico.yaml');
    assert.equal(documents.length, 25);
    assert.match(notes[0] ?? '', /^calico\.yaml:\d+:\d+ \(and \d+ more in this document\): /);
  });
});
