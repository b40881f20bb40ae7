import assert from 'node:assert/strict';
import { isPending, parseHelmRecord } from '../../../src/features/install-chart/helm-record.ts';

const STORED = {
  name: 'calico',
  namespace: 'tigera-operator',
  version: 4,
  info: { status: 'deployed', description: 'Upgrade complete' },
  chart: { metadata: { name: 'tigera-operator', version: 'v3.27.5' }, values: { installation: { enabled: true } } },
  config: { installation: { registry: 'mirror.example.org' } },
  manifest: '---\nkind: Namespace\n',
};

describe('parseHelmRecord', () => {
  it('reads what the upgrade looks at', () => {
    assert.deepEqual(parseHelmRecord(JSON.stringify(STORED)), {
      name: 'calico',
      namespace: 'tigera-operator',
      revision: 4,
      status: 'deployed',
      description: 'Upgrade complete',
      chart: { name: 'tigera-operator', version: 'v3.27.5' },
      values: { installation: { registry: 'mirror.example.org' } },
      defaults: { installation: { enabled: true } },
      manifest: '---\nkind: Namespace\n',
      applyMethod: 'client-side',
    });
  });

  it('takes a release without values of a person as one with none', () => {
    assert.deepEqual(parseHelmRecord(JSON.stringify({ ...STORED, config: null })).values, {});
  });

  for (const [method, expected] of [
    ['ssa', 'server-side'],
    ['csa', 'client-side'],
  ]) {
    it(`knows ${method} of helm 4 as ${expected}`, () => {
      assert.equal(parseHelmRecord(JSON.stringify({ ...STORED, apply_method: method })).applyMethod, expected);
    });
  }

  const broken: readonly (readonly [string, string, RegExp])[] = [
    ['no JSON', '{', /not JSON/],
    ['a list', '[]', /not a release/],
    ['a release without status', JSON.stringify({ ...STORED, info: {} }), /status/],
    ['a release without chart', JSON.stringify({ ...STORED, chart: {} }), /chart/],
  ];
  for (const [what, json, because] of broken) it(`refuses ${what}`, () => assert.throws(() => parseHelmRecord(json), because));
});

describe('isPending', () => {
  for (const [status, expected] of Object.entries({
    'pending-install': true,
    'pending-upgrade': true,
    'pending-rollback': true,
    uninstalling: true,
    deployed: false,
    failed: false,
    superseded: false,
  })) {
    it(`is ${expected} for ${status}`, () => assert.equal(isPending({ status }), expected));
  }
});
