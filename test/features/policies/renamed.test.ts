import assert from 'node:assert/strict';
import { readRenamedPolicies } from '../../../src/features/policies/index.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { installation, type Wanted } from '../../fixtures/facts.ts';
import { engineBench, engineContext } from '../../support/engine-ports.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const GROUP = 'crd.projectcalico.org';
const KIND = { group: GROUP, version: 'v1', kind: 'NetworkPolicy', plural: 'networkpolicies', namespaced: true };

const noted = JSON.stringify({
  uid: 'u',
  labels: { app: 'web' },
  annotations: { owner: 'team-a' },
  creationTimestamp: '2026-01-01T00:00:00Z',
});

function stored(name: string, annotations: Readonly<Record<string, string>> = { 'projectcalico.org/metadata': noted }): KubeObject {
  const metadata = { name, namespace: 'shop', uid: 'stored', resourceVersion: '1', annotations };
  return { apiVersion: `${GROUP}/v1`, kind: 'NetworkPolicy', metadata, spec: { tier: 'default', selector: 'all()' } };
}

async function renamed(objects: readonly KubeObject[], options: Wanted = {}, more: Partial<typeof installation> = {}) {
  const { cluster } = engineBench().ports;
  const reads = { ...cluster, discover: async () => ({ kinds: [KIND], failed: [] }), list: async () => objects };
  const context = { ...engineContext({ release: CALICO_TARGET, ...options }), profile: calico };
  return readRenamedPolicies({ ...engineBench().ports, cluster: reads }, context, { ...installation, ...more });
}

describe('policies that the upgrade renames', () => {
  it('have their own name and what a person gave them through the API, and nothing of their storage', async () => {
    assert.deepEqual(await renamed([stored('default.web'), stored('web'), stored('default.by-hand', {})]), [
      {
        apiVersion: 'projectcalico.org/v3',
        kind: 'NetworkPolicy',
        metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' }, annotations: { owner: 'team-a' } },
        spec: { tier: 'default', selector: 'all()' },
      },
    ]);
  });

  it('are none where the renaming is held, the target renames nothing, or the store is another', async () => {
    const policies = [stored('default.web')];
    assert.deepEqual(await renamed(policies, { holdPolicyMigration: true }), []);
    assert.deepEqual(await renamed(policies, { release: 'v3.31.2' }), []);
    assert.deepEqual(await renamed(policies, {}, { datastore: 'kvstore' }), []);
  });
});
