import assert from 'node:assert/strict';
import { type StoreFacts, type StoreJudged, storeChecks } from '../../../src/features/install-manifest/kvstore-checks.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';

const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'config' };
const PATHS = ['/secrets/ca', '/secrets/cert', '/secrets/key'];
const healthy: StoreFacts = {
  settings: { ref, endpoints: 'https://a:1', paths: PATHS },
  secretKeys: { value: ['ca', 'cert', 'key'] },
  placeholders: [],
  onHosts: [],
  health: [{ endpoint: 'https://a:1', state: 'healthy', because: '' }],
};
const settings = (endpoints: string, paths: readonly string[]) => ({ settings: { ref, endpoints, paths } });

function judged(
  store: StoreFacts | undefined,
  emptied: StoreJudged['emptied'] = [],
  kvstoreEndpoints?: string,
): Readonly<Record<string, string>> {
  const context = contextOf(kvstoreEndpoints === undefined ? {} : { kvstoreEndpoints });
  const findings = judgeAll(storeChecks, { store, emptied }, context);
  return Object.fromEntries(findings.map(({ id, outcome, message }) => [id, `${outcome}: ${message}`]));
}

describe('checks of the key-value store', () => {
  it('pass for an installation with certificates that answers', () => {
    const found = judged(healthy);
    assert.ok(
      Object.values(found).every((text) => text.startsWith('ok')),
      JSON.stringify(found),
    );
  });

  it('say that certificates on the hosts were not checked, and stop nothing', () => {
    const found = judged({ ...healthy, onHosts: PATHS, secretKeys: { value: [] }, health: [] });
    assert.equal(found['NS-210'], 'ok: not checked: files of the hosts (/secrets/ca, /secrets/cert, /secrets/key)');
    assert.equal(found['NS-212'], 'not-applicable: not checked: the certificates are files of the hosts');
  });

  it('do not apply where the data is in the API', () => {
    const { 'NS-209': a, 'NS-210': b, 'NS-211': c, 'NS-212': d } = judged(undefined);
    assert.deepEqual(
      [a, b, c, d].map((text) => text?.split(':')[0]),
      ['not-applicable', 'not-applicable', 'ok', 'not-applicable'],
    );
  });

  const cases: readonly (readonly [title: string, id: string, change: Partial<StoreFacts>, message: RegExp])[] = [
    ['a placeholder', 'NS-209', { placeholders: [{ text: 'ConfigMap/config data.x' }] }, /error: the target still holds the placeholder/],
    ['no endpoints at all', 'NS-209', { settings: undefined }, /error: .*no ConfigMap of the target names them/],
    ['an empty endpoint', 'NS-209', settings('', PATHS), /error: .*no endpoint is named/],
    ['https without certificates', 'NS-210', settings('https://a:1', ['', '', '']), /error: the endpoints are https/],
    ['a path without a value', 'NS-210', { secretKeys: { value: ['ca', 'cert'] } }, /error: the Secret has no key,/],
    ['values without a path', 'NS-210', settings('http://a:1', ['', '', '']), /error: the Secret has certificates/],
    ['a Secret that cannot be read', 'NS-210', { secretKeys: { unread: 'forbidden' } }, /error: .*forbidden/],
    [
      'a store that refuses',
      'NS-212',
      { health: [{ endpoint: 'https://a:1', state: 'refused', because: 'unknown ca' }] },
      /error: .*https:\/\/a:1/,
    ],
    [
      'endpoints with blanks',
      'NS-209',
      settings('https://a:1, https://b:1', PATHS),
      /error: .*it has blanks.*write https:\/\/a:1,https:\/\/b:1$/,
    ],
    [
      'a file of the hosts beside a path without a value',
      'NS-210',
      { onHosts: ['/secrets/ca'], secretKeys: { value: ['cert'] } },
      /error: the Secret has no key,/,
    ],
    ['an unhealthy store', 'NS-212', { health: [{ endpoint: 'https://a:1', state: 'unhealthy', because: '{}' }] }, /error/],
    [
      'a store out of reach, which may be so from here only',
      'NS-212',
      { health: [{ endpoint: 'https://a:1', state: 'unreached', because: 'refused' }] },
      /ok: not checked from here/,
    ],
  ];
  for (const [title, id, change, message] of cases) {
    it(`${id} tells ${title}`, () => assert.match(judged({ ...healthy, ...change })[id] ?? '', message));
  }

  it('NS-209 tells that the flag did not reach a file which is applied as it stands', () => {
    assert.match(judged(healthy, [], 'https://b:1')['NS-209'] ?? '', /^error: .*the target has https:\/\/a:1, not https:\/\/b:1/);
    assert.match(judged(healthy, [], 'https://a:1')['NS-209'] ?? '', /^ok/);
  });

  it('NS-209 asks for endpoints where none were given, and does not ask for those again that did not reach the target', () => {
    const nextOf = (kvstoreEndpoints?: string, store: StoreFacts = healthy) =>
      judgeAll(storeChecks, { store, emptied: [] }, contextOf(kvstoreEndpoints === undefined ? {} : { kvstoreEndpoints })).find(
        ({ id }) => id === 'NS-209',
      )?.next;
    const unnamed = { ...healthy, ...settings('', PATHS) };
    assert.deepEqual([nextOf(undefined, unnamed), nextOf('https://b:1')].map(String), [
      'kubectl netsvc-upgrade explain NS-209',
      'kubectl netsvc-upgrade plan -o wide',
    ]);
  });

  it('NS-210 takes a store without certificates', () => {
    const plain = { ...healthy, ...settings('http://a:1', ['', '', '']), secretKeys: { value: [] } };
    assert.match(judged(plain)['NS-210'] ?? '', /^ok: without certificates/);
  });

  it('NS-211 names a Secret that would lose its values', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'kube-system', name: 'keys' };
    assert.match(judged(healthy, [secret])['NS-211'] ?? '', /^error: 1 Secret of the target/);
  });
});
