import assert from 'node:assert/strict';
import { readStoreFacts } from '../../../src/features/install-manifest/apply-facts.ts';
import type { Target } from '../../../src/features/install-manifest/identity.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { applyBench } from '../../support/apply-bench.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const { endpointsKey, placeholders } = netsvc.datastore;

function targetWith(data: unknown): Target {
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config', namespace: 'kube-system' }, data };
  const manifest = { name: 'mine.yaml', documents: [{ object, text: '', line: 1 }] };
  return { file: 'upgrade.yaml', url: 'mine.yaml', sha256: '', text: '', release: NETSVC_TARGET, manifest, addOns: [] };
}

describe('what the target says of the key-value store', () => {
  for (const [what, data, endpoints] of [
    ['an endpoint and keys without a value', { [endpointsKey]: 'http://10.0.0.1:2379', ca: null, mtu: 1440 }, 'http://10.0.0.1:2379'],
    ['endpoints without a value', { [endpointsKey]: null }, ''],
    ['a ConfigMap without data', null, undefined],
  ] as const) {
    it(`is read from a person’s own file with ${what}`, async () => {
      const { sources, context } = applyBench([]);
      const facts = await readStoreFacts(sources, context, targetWith(data));
      assert.deepEqual([facts.settings?.endpoints, facts.placeholders], [endpoints, []]);
    });
  }

  it('names the place that still holds the placeholder of the release', async () => {
    const { sources, context } = applyBench([]);
    const facts = await readStoreFacts(sources, context, targetWith({ other: null, [endpointsKey]: placeholders[0] }));
    assert.deepEqual(
      facts.placeholders.map(({ text }) => text),
      [`ConfigMap/kube-system/config data.${endpointsKey}`],
    );
  });
});
