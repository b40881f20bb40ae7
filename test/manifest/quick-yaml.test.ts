import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readQuickly } from '../../src/manifest/quick-yaml.ts';
import { readCarefully, readYaml } from '../../src/manifest/yaml-rules.ts';
import { damaged, FUZZ_RUNS } from '../support/fuzz.ts';
import { ownReleases, releases } from '../support/releases.ts';

const careful = (source: string): unknown => {
  const { value } = readCarefully(`- ${source}`);
  return Array.isArray(value) ? value[0] : undefined;
};

/** An object with these lines in it. */
const object = (...lines: readonly string[]): string =>
  ['apiVersion: apps/v1', 'kind: DaemonSet', 'metadata:', '  name: a', ...lines, ''].join('\n');

const documentsIn = (file: string): readonly string[] => readFileSync(file, 'utf8').split(/^---\n/m);

describe('a document of a manifest', () => {
  const published = ['v3.32.1/manifests/*crds.yaml', 'v3.32.1/manifests/calico-typha.yaml', 'v3.27.5/manifests/calico.yaml'];
  const files = [...published.map((names) => join(releases, names)), join(ownReleases, '*/manifests/*.yaml')].flatMap((one) =>
    globSync(one),
  );
  for (const file of files)
    it(`is read at once as it is read with care: ${file.split('/').slice(-3).join('/')}`, function () {
      this.timeout(60_000);
      for (const text of documentsIn(file)) {
        const reading = readCarefully(text);
        if (reading.value !== undefined) assert.deepEqual({ ...readQuickly(text, careful), repeated: [] }, reading, text);
      }
    });

  const OTHER: Readonly<Record<string, readonly string[]>> = {
    'an anchor': ['a: &x 1', 'b: *x'],
    'a tag': ['a: !!str 1'],
    'a merge': ['a:', '  <<: {b: 1}'],
    'a key twice': ['a: 1', 'a: 2'],
    'a key that is no text': ['yes: 1'],
    'a text in quotes that goes on too far left': ['a:', '  b: "one', '  two"'],
    'another document behind it': ['...', '---', 'a: 1'],
    'an error': ['a: [1'],
  };
  for (const [title, lines] of Object.entries(OTHER)) {
    it(`is left to the careful reader with ${title}`, () => {
      const text = object(...lines);
      assert.equal(readQuickly(text, careful), undefined);
      assert.deepEqual(readYaml(text), readCarefully(text));
    });
  }

  it('has numbers, booleans, nulls and texts by the same rules', () => {
    const values = [
      '0777',
      '0o17',
      '1_000',
      '0x1f',
      '1e3',
      '.5',
      '-.inf',
      'yes',
      'Off',
      'y',
      '~',
      'null',
      '',
      '1:30',
      '2001-01-01',
      '1.2.3',
      '=',
      '-a',
      '+',
      '1 2',
    ];
    const text = object(...values.map((value, index) => `v${index}: ${value}`));
    const reading = readQuickly(text, careful);
    assert.ok(reading);
    assert.deepEqual({ ...reading, repeated: [] }, readCarefully(text));
  });

  it('is read at once where a text in quotes has lines of its own', () => {
    const text = object('a:', '  - message: no', '    rule:', '      "b ==', "      'c'\"");
    const reading = readQuickly(text, careful) ?? assert.fail('not read');
    assert.deepEqual({ ...reading, repeated: [] }, readCarefully(text));
  });

  it('is left to the careful reader where the end of a document stands before it', () => {
    const text = object('spec:', '  group: a.b');
    assert.ok(readQuickly(text, careful));
    assert.equal(readQuickly(`...\n${text}`, careful), undefined);
  });

  it('with a plain text of two paragraphs that begins as a number is read as with care', () => {
    const text = object('spec:', "  quoted: .inf'one", "    it''s", '', "    two'");
    const reading = readQuickly(text, careful) ?? assert.fail('not read');
    assert.deepEqual({ ...reading, repeated: [] }, readCarefully(text));
  });

  it('that was damaged is read as with care, or not at all', () => {
    const text = object(
      'spec:',
      '  names: {kind: A, plural: "as"}',
      "  group: 'a.b'",
      "  quoted: 'one",
      "    it''s",
      '',
      "    two'",
      '  escaped: "a \\',
      '    b \\n c"',
      '  text: |',
      '    one',
      '     two',
      '',
      '  folded: >-',
      '    one',
      '    two',
      '  list:',
      '  - 1',
      '  - yes',
    );
    assert.ok(readQuickly(text, careful));
    fc.assert(
      fc.property(damaged(text), (broken) => {
        const reading = readQuickly(broken, careful);
        if (reading) assert.deepEqual({ ...reading, repeated: [] }, readCarefully(broken));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});
