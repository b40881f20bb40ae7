import assert from 'node:assert/strict';
import { readCarefully } from '../../src/manifest/yaml-rules.ts';

describe('a document of YAML, carefully read', () => {
  it('tells each key that a map has twice, in the order of its lines, and no merge key', () => {
    const text = 'a: 1\nb:\n  c: 1\n  c: 2\n  d: {e: 1, e: 2}\na: 2\na: 3\nx: &x {y: 1}\nz:\n  <<: *x\n  <<: *x\n';
    assert.deepEqual(readCarefully(text).repeated, [
      { key: 'c', line: 4 },
      { key: 'e', line: 5 },
      { key: 'a', line: 6 },
      { key: 'a', line: 7 },
    ]);
  });

  it('takes a thousand anchors and aliases, and as many stars and ampersands in texts as there are', () => {
    const text = `a: &a 1\n${Array.from({ length: 900 }, (_, at) => `b${at}: *a`).join('\n')}\n`;
    assert.equal(readCarefully(text).problem?.message, 'Excessive alias count indicates a resource exhaustion attack');
    const stars = `a: |\n${'  **bold** and &more\n'.repeat(2000)}b: "${'*x &y '.repeat(2000)}"\n`;
    assert.equal(readCarefully(stars).problem, undefined);
  });
});
