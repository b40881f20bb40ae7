import assert from 'node:assert/strict';
import { overlaid, pinsOf, settingsFor, settingValues, type ValueFacts } from '../../../src/features/install-chart/helm-values.ts';
import { contains } from '../../../src/kernel/json.ts';
import type { ChartNames } from '../../../src/kernel/operator-names.ts';

const names: ChartNames = {
  manageCrds: 'manageCRDs',
  pins: ['tigeraOperator.version', 'tigeraOperator.image'],
  additions: [
    { value: 'goldmane.enabled', kind: 'Goldmane' },
    { value: 'whisker.enabled', kind: 'Whisker' },
  ],
};
const defaults = {
  manageCRDs: true,
  goldmane: { enabled: true },
  whisker: { enabled: true },
  tigeraOperator: { version: 'v1.42.3', image: 'tigera/operator' },
};
const facts: ValueFacts = { names, manifests: [''], own: {}, defaults, manageCrds: false, restoresCrds: false, flowLogs: false };

const SETTINGS: readonly (readonly [string, Partial<ValueFacts>, readonly string[]])[] = [
  ['leaves the CRDs to the person and the additions off', {}, ['manageCRDs=false', 'goldmane.enabled=false', 'whisker.enabled=false']],
  [
    'leaves them to the operator where the installed one would put its own back',
    { restoresCrds: true, flowLogs: true, own: {} },
    ['manageCRDs=true'],
  ],
  [
    'and not where the values of the release say otherwise',
    { restoresCrds: true, own: { manageCRDs: false, goldmane: {}, whisker: {} }, flowLogs: false },
    ['goldmane.enabled=false', 'whisker.enabled=false'],
  ],
  ['lets the operator apply the CRDs when told so', { manageCrds: true, flowLogs: true }, ['manageCRDs=true']],
  [
    'switches the additions on when asked for, whatever the release says',
    { flowLogs: true, own: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: null } } },
    ['goldmane.enabled=true', 'whisker.enabled=true'],
  ],
  [
    'switches on only what is not on',
    { flowLogs: true, own: { goldmane: { enabled: true } }, defaults: { goldmane: { enabled: false }, whisker: { enabled: false } } },
    ['whisker.enabled=true'],
  ],
  ['asks no chart for additions that it does not know', { flowLogs: true, own: { goldmane: { enabled: false } }, defaults: {} }, []],
  ['keeps what the person has said', { own: { manageCRDs: true, goldmane: { enabled: true } } }, ['whisker.enabled=false']],
  [
    'leaves on what the release has already, in either of two revisions',
    { manifests: ['---\nkind: Goldmane\nmetadata:\n', '---\nkind: Whisker\n'] },
    ['manageCRDs=false'],
  ],
  ['sets nothing that the target does not know', { defaults: {} }, []],
];

describe('settingsFor', () => {
  for (const [what, some, expected] of SETTINGS) {
    it(what, () =>
      assert.deepEqual(
        settingsFor({ ...facts, ...some }).map(({ value, to }) => `${value}=${to}`),
        expected,
      ),
    );
  }

  it('can be written as values', () => {
    const wanted = { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } };
    assert.deepEqual(settingValues(settingsFor(facts)), wanted);
  });
});

describe('pinsOf', () => {
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['another version', { version: 'v1.32.12' }, ['tigeraOperator.version']],
    ['the version of the target', { version: 'v1.42.3' }, []],
    ['an image with a tag', { image: 'mirror/operator:v1.32.12' }, ['tigeraOperator.image']],
    ['an image by digest', { image: 'mirror/operator@sha256:0123' }, ['tigeraOperator.image']],
    ['an image by another name', { image: 'mirror/operator' }, []],
    ['a registry', { registry: 'mirror.example.org:5000' }, []],
  ];
  for (const [what, tigeraOperator, expected] of cases) {
    it(`judges ${what}`, () =>
      assert.deepEqual(
        pinsOf({ names, own: { tigeraOperator }, defaults }).map(({ value }) => value),
        expected,
      ));
  }
});

describe('overlaid', () => {
  it('merges maps and replaces anything else', () => {
    assert.deepEqual(overlaid({ a: { b: 1, c: [1, 2] }, d: 1 }, { a: { c: [3] }, d: { e: 1 } }), { a: { b: 1, c: [3] }, d: { e: 1 } });
  });
});

describe('contains', () => {
  const cases: readonly (readonly [unknown, unknown, boolean])[] = [
    [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, true],
    [{ a: { b: 1 } }, { a: { b: 2 } }, false],
    [{ a: [1, 2] }, { a: [1] }, false],
    [{ a: [{ b: 1, c: 2 }] }, { a: [{ b: 1 }] }, false],
    [{}, { a: null }, true],
    [{ a: 1 }, { a: null }, false],
  ];
  for (const [whole, part, expected] of cases) {
    it(`${JSON.stringify(whole)} ${expected ? 'contains' : 'lacks'} ${JSON.stringify(part)}`, () =>
      assert.equal(contains(whole, part), expected));
  }
});
