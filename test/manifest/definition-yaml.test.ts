import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readDefinition } from '../../src/manifest/definition-yaml.ts';
import { readCarefully, readYaml } from '../../src/manifest/yaml-rules.ts';
import { damaged, FUZZ_RUNS } from '../support/fuzz.ts';
import { releases } from '../support/releases.ts';

const careful = (source: string): unknown => {
  const { value } = readCarefully(`- ${source}`);
  return Array.isArray(value) ? value[0] : undefined;
};

const FILLING = Array.from({ length: 60 }, (_, index) => `note${index}: ${'x'.repeat(50)}`);

/** A large definition with these lines in it. */
const definition = (...lines: readonly string[]): string =>
  ['apiVersion: apiextensions.k8s.io/v1', 'kind: CustomResourceDefinition', 'metadata:', '  name: a', ...lines, ...FILLING, ''].join('\n');

const documentsIn = (file: string): readonly string[] => readFileSync(file, 'utf8').split(/^---\n/m);

describe('a definition of a resource', () => {
  const files = ['v3.32.1/manifests/*crds.yaml', 'v3.27.5/manifests/crds.yaml'].flatMap((names) => globSync(join(releases, names)));
  for (const file of files)
    it(`is read at once as it is read with care: ${file.split('/').slice(-3).join('/')}`, function () {
      this.timeout(60_000);
      let quick = 0;
      for (const text of documentsIn(file)) {
        const reading = readDefinition(text, careful);
        if (!reading) continue;
        quick += 1;
        assert.deepEqual({ ...reading, repeated: [] }, readCarefully(text));
      }
      assert.ok(quick > 5, `${quick} definitions`);
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
      const text = definition(...lines);
      assert.equal(readDefinition(text, careful), undefined);
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
    const text = definition(...values.map((value, index) => `v${index}: ${value}`));
    const reading = readDefinition(text, careful);
    assert.ok(reading);
    assert.deepEqual({ ...reading, repeated: [] }, readCarefully(text));
  });

  it('is left to the careful reader where the end of a document stands before it', () => {
    const text = definition('spec:', '  group: a.b');
    assert.ok(readDefinition(text, careful));
    assert.equal(readDefinition(`...\n${text}`, careful), undefined);
  });

  it('with a plain text of two paragraphs that begins as a number is read as with care', () => {
    const text = definition('spec:', "  quoted: .inf'one", "    it''s", '', "    two'");
    const reading = readDefinition(text, careful) ?? assert.fail('not read');
    assert.deepEqual({ ...reading, repeated: [] }, readCarefully(text));
  });

  it('that was damaged is read as with care, or not at all', () => {
    const text = definition(
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
    assert.ok(readDefinition(text, careful));
    fc.assert(
      fc.property(damaged(text), (broken) => {
        const reading = readDefinition(broken, careful);
        if (reading) assert.deepEqual({ ...reading, repeated: [] }, readCarefully(broken));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});
