import assert from 'node:assert/strict';
import { parseHelmRecord } from '../../src/features/install-chart/helm-record.ts';
import { parseSelector } from '../../src/features/policy-rules/stored-selector.ts';
import { mask, maskValue } from '../../src/kernel/hidden.ts';
import { parseImage, parseRelease } from '../../src/kernel/release.ts';
import { visible } from '../../src/kernel/visible.ts';
import { readCertificate } from '../../src/kube/certificate.ts';
import { editJson, readJson } from '../../src/manifest/json-text.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { readYaml, writeYaml } from '../../src/manifest/yaml-rules.ts';
import { FOREIGN_TEXTS } from '../support/foreign-texts.ts';
import { Steps } from '../support/steps.ts';

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  ...{ mask, maskValue, visible, parseRelease, parseImage, readCertificate, readJson, readYaml, parseSelector, parseHelmRecord },
  editJson: (text) => editJson(text, {}),
  parseManifest: (text) => parseManifest(text, 'x'),
  writeYaml: (text) => writeYaml({ [text]: text, texts: text.split(' ') }),
};

/** More than the longest key. */
const LENGTH = 1200;
/** What opens without end is slow although its steps are few; of anchors the first thousand are looked through for each. */
const OTHER_LENGTHS: Readonly<Record<string, number>> = {
  ...{ '"["': 100, '"{{"': 100, [JSON.stringify('{"a":')]: 100, '"passwords: ["': 200, 'brackets that open': 100 },
  ...{ aliases: 6000, 'merge keys': 12_000 },
};
const MOST_TIMES = 15;

describe('ten times a foreign text takes at most fifteen times the steps', function () {
  this.timeout(120_000);
  const steps = new Steps();
  after(() => steps.close());

  const tried = (read: (text: string) => unknown, text: string): void => {
    try {
      read(text);
    } catch {
      // Refused, which took its steps.
    }
  };

  for (const [name, read] of Object.entries(READERS))
    it(`of ${name}`, () => {
      for (const [title, make] of Object.entries(FOREIGN_TEXTS)) {
        const length = OTHER_LENGTHS[title] ?? LENGTH;
        // Blocks are only counted once they have run a while, and what the engine has put into another function is not: the most is the truth.
        const [text, tenTimes] = [make(length), make(10 * length)];
        tried(read, tenTimes);
        const short = Math.max(...steps.each(3, () => tried(read, text)));
        const long = Math.min(...steps.each(2, () => tried(read, tenTimes)));
        // Where little of a short text is read, a step for each of its characters is allowed.
        assert.ok(long <= MOST_TIMES * Math.max(short, length), `${title}: ${short} steps, and ${long} for ten times as much`);
      }
    });

  it('which are counted: two loops in each other', () => {
    const loops = (text: string) => {
      let sum = 0;
      for (const _one of text) for (const _other of text) sum += 1;
      return sum;
    };
    const [short, long] = [100, 1000].map((length) => steps.of(() => loops('x'.repeat(length)))) as [number, number];
    assert.ok(long > 90 * short && long < 110 * short, `${short}, ${long}`);
  });
});
