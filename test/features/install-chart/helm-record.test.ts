import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { isPending, parseHelmRecord, unpackRelease } from '../../../src/features/install-chart/helm-record.ts';

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

const JSON_TEXT = '{"name":"calico","note":"größer"}';
const packed = gzipSync(JSON_TEXT).toString('base64');

describe('unpackRelease', () => {
  const stored: readonly (readonly [string, string])[] = [
    ['as a Secret has it, in base64 twice', Buffer.from(packed).toString('base64')],
    ['as a ConfigMap has it, in base64 once', packed],
    ['not compressed, as very old chart tools left it', Buffer.from(Buffer.from(JSON_TEXT).toString('base64')).toString('base64')],
    ['with line ends around it', `${packed}\n`],
  ];
  for (const [how, text] of stored) {
    it(`reads a release ${how}`, async () => assert.equal(await unpackRelease(text), JSON_TEXT));
  }

  const broken: readonly (readonly [string, string, RegExp])[] = [
    ['no base64', '***', /not base64/],
    [
      'something else in base64',
      Buffer.from(Buffer.from('hello').toString('base64')).toString('base64'),
      /not a packed chart release|not base64/,
    ],
    ['nothing', '', /not a packed chart release/],
    ['a bomb', gzipSync(Buffer.alloc(65 * 1024 * 1024)).toString('base64'), /larger than 64 MiB/],
  ];
  for (const [what, text, because] of broken) {
    it(`says why ${what} is no release`, async () => assert.rejects(unpackRelease(text), because));
  }

  it('rejects a release that is cut short', async () => {
    await assert.rejects(unpackRelease(gzipSync(JSON_TEXT).subarray(0, 20).toString('base64')));
  });
});
