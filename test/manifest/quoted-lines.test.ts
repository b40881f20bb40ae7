import assert from 'node:assert/strict';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { editedManifest } from '../support/edited-manifests.ts';

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
