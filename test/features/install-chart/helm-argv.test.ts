import assert from 'node:assert/strict';
import { type HelmUpgrade, helmUpgrade, keepsValues, parseHelmVersion } from '../../../src/features/install-chart/helm-argv.ts';
import { helmOn } from '../../../src/features/install-manifest/run-helm.ts';
import { commandLine } from '../../../src/kernel/argv.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const helm3 = { major: 3, minor: 19, text: 'v3.19.5' };
const chart = { ref: 'tigera-operator', repository: 'https://charts.example.org', release: CALICO_TARGET };
const upgrade: HelmUpgrade = {
  name: 'calico',
  namespace: 'tigera-operator',
  chart,
  storage: 'Secret',
  helm: helm3,
  settings: [{ value: 'manageCRDs', to: false, because: '' }],
  takeFields: false,
};

const COMMANDS: readonly (readonly [string, HelmUpgrade, boolean, string])[] = [
  [
    'names release, namespace and version and keeps the values',
    upgrade,
    false,
    `helm upgrade calico tigera-operator --repo https://charts.example.org --version ${CALICO_TARGET} --namespace tigera-operator --reset-then-reuse-values --set manageCRDs=false`,
  ],
  [
    'gives an older helm the saved values as a file',
    { ...upgrade, helm: { major: 3, minor: 9, text: 'v3.9.0' }, savedValues: '/w/values.json', settings: [] },
    false,
    `helm upgrade calico tigera-operator --repo https://charts.example.org --version ${CALICO_TARGET} --namespace tigera-operator --values /w/values.json`,
  ],
  [
    'lays a file of the person over them, and asks only the server',
    { ...upgrade, valuesFile: 'more.yaml', chart: { ref: 'oci://r.example.org/charts/op', release: CALICO_TARGET } },
    true,
    `helm upgrade calico oci://r.example.org/charts/op --version ${CALICO_TARGET} --namespace tigera-operator --reset-then-reuse-values --values more.yaml --set manageCRDs=false --dry-run=server --output json`,
  ],
  [
    'takes fields only when told so, and finds releases in ConfigMaps',
    { ...upgrade, takeFields: true, storage: 'ConfigMap', settings: [] },
    false,
    `HELM_DRIVER=configmap helm upgrade calico tigera-operator --repo https://charts.example.org --version ${CALICO_TARGET} --namespace tigera-operator --reset-then-reuse-values --force-conflicts`,
  ],
];

describe('helmUpgrade', () => {
  for (const [what, given, dryRun, expected] of COMMANDS) {
    it(what, () => assert.equal(commandLine(helmUpgrade(given, dryRun)), expected));
  }

  it('never drops the values for want of a file', () => {
    assert.throws(() => helmUpgrade({ ...upgrade, helm: { major: 3, minor: 13, text: 'v3.13.0' } }), /saved values/);
  });
});

describe('helmOn', () => {
  it('asks for the very version', () => {
    const args = ['show', 'values', 'tigera-operator', '--repo', 'https://charts.example.org', '--version', CALICO_TARGET];
    assert.deepEqual(helmOn(chart, ['show', 'values']).args, args);
  });
});

describe('parseHelmVersion', () => {
  for (const [text, major] of [
    ['v3.19.5+g1234567', 3],
    ['v4.3.1', 4],
    ['Client: v2.17.0+ga690bad', 2],
  ] as const) {
    it(`finds ${major} in ${text}`, () => assert.equal(parseHelmVersion(text)?.major, major));
  }

  it('finds nothing in other words', () => assert.equal(parseHelmVersion('command not found'), undefined));

  it('knows from which helm on the values can be kept', () => {
    assert.deepEqual(
      ['v3.13.9', 'v3.14.0', 'v4.0.0'].map((text) => keepsValues(parseHelmVersion(text) ?? helm3)),
      [false, true, true],
    );
  });
});
