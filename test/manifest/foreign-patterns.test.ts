import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliConfigField } from '../../src/features/survey/cli-version.ts';
import { podSubnetsIn } from '../../src/features/survey/operated.ts';
import { proxyModeIn } from '../../src/features/survey/resources.ts';
import { documentsText, parseManifest } from '../../src/manifest/manifest.ts';
import { withinTime } from '../../src/manifest/within-time.ts';
import { readCarefully } from '../../src/manifest/yaml-rules.ts';

const MEBI = 1_000_000;
const LINES = '\n'.repeat(MEBI);

/** What others may write as long as an object may be, or a file, so that a pattern begins at each of its characters. */
const READERS: Readonly<Record<string, () => unknown>> = {
  'the mode of kube-proxy': () => proxyModeIn(LINES),
  'the subnets of kubeadm': () => podSubnetsIn(LINES),
  'a field of the CLI’s configuration': () => cliConfigField(LINES, 'kubeconfig'),
  'documents with empty lines': () => documentsText([{ text: `a: "${LINES}"` }]),
  'brackets far apart': () => {
    assert.throws(() => parseManifest(`[${' '.repeat(100_000)}`.repeat(190), 'x'), /x:\d+: /);
  },
  'ampersands of a text': () => readCarefully(`a: |\n  ${' &x'.repeat(40_000)}\nb: !!str c\n`),
};

describe('a long text of others', function () {
  this.timeout(60_000);
  for (const [name, read] of Object.entries(READERS))
    it(`is read in time: ${name}`, () => {
      assert.ok(
        withinTime(10_000, () => [read()]),
        'not within 10 s',
      );
    });

  it('is matched by no pattern that takes line breaks for the beginning of a line', () => {
    const root = join(import.meta.dirname, '..', '..', 'src');
    const found = globSync('**/*.ts', { cwd: root }).flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      return lines
        .filter((line) => /\/[^/]*\^\(?\\s[*+].*\/[gis]*m[gis]*\b|RegExp\(.*\^\\\\s[*+].*'[gis]*m/.test(line))
        .map((line) => `${file}: ${line.trim()}`);
    });
    assert.deepEqual(found, []);
  });
});
