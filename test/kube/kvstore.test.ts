import assert from 'node:assert/strict';
import { withEndpoints } from '../../src/features/install-manifest/given.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { endpointsOf, endpointsProblem, storeSettings } from '../../src/kube/kvstore.ts';

const config = (data: Readonly<Record<string, unknown>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'config', namespace: 'kube-system' },
  data,
});

describe('endpoints of the key-value store', () => {
  const cases: readonly (readonly [text: string, problem: RegExp | undefined])[] = [
    ['https://10.0.0.1:2379', undefined],
    ['https://a.example:2379,https://[::1]:2379', undefined],
    ['https://a.example:2379, https://[::1]:2379', /has blanks.*: write https:\/\/a\.example:2379,https:\/\/\[::1\]:2379$/],
    ['http://127.0.0.1:2379/', undefined],
    ['', /no endpoint is named/],
    [' , ', /no endpoint is named/],
    ['http://<ETCD_IP>:<ETCD_PORT>', /is not an endpoint/],
    ['10.0.0.1:2379', /is not an endpoint/],
    ['https://10.0.0.1', /is not an endpoint/],
    ['https://user@10.0.0.1:2379', /is not an endpoint/],
    ['https://10.0.0.1:2379/v3', /is not an endpoint/],
    ['https://10.0.0.1:2379,http://10.0.0.2:2379', /mixed/],
  ];
  for (const [text, problem] of cases) {
    it(`"${text}" is ${problem ? 'refused' : 'taken'}`, () => {
      const found = endpointsProblem(text);
      if (problem) assert.match(found ?? '', problem);
      else assert.equal(found, undefined);
    });
  }

  it('are read one by one', () => {
    assert.deepEqual(endpointsOf(' https://a:1 ,, https://b:2'), ['https://a:1', 'https://b:2']);
  });

  it('are found in the ConfigMap that has them, with the paths of the certificates', () => {
    const found = storeSettings([config({ other: '1' }), config({ endpoints: 'https://a:1', ca: '/x/ca' })], 'endpoints', ['ca', 'cert']);
    assert.deepEqual([found?.endpoints, found?.paths], ['https://a:1', ['/x/ca', '']]);
    assert.equal(storeSettings([config({})], 'endpoints', []), undefined);
  });

  it('are none where the key stands without a value, as a person’s own file may have it', () => {
    const found = storeSettings([config({ endpoints: null, ca: null, cert: 5 })], 'endpoints', ['ca', 'cert']);
    assert.deepEqual([found?.endpoints, found?.paths], ['', ['', '5']]);
  });

  it('take the place of the installed ones and of nothing else', () => {
    const [first, second] = withEndpoints([config({ endpoints: 'old', a: '1' }), config({ a: '1' })], 'endpoints', 'new');
    assert.deepEqual([first?.data, second?.data], [{ endpoints: 'new', a: '1' }, { a: '1' }]);
  });
});
