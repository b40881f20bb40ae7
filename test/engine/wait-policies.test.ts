import assert from 'node:assert/strict';
import { assertHeld } from '../../src/engine/wait-policies.ts';

const kind = {
  ...{ group: 'crd.projectcalico.org', version: 'v1', kind: 'KubeControllersConfiguration' },
  ...{ plural: 'kubecontrollersconfigurations', namespaced: false },
};
const expected = { type: 'renaming-held', kind, name: 'default', field: 'spec.controllers.policyMigration.enabled' } as const;
const stored = (controllers: object) => ({
  get: async () => ({ apiVersion: 'crd.projectcalico.org/v1', kind: kind.kind, metadata: { name: 'default' }, spec: { controllers } }),
});

describe('the hold of the renaming of policies', () => {
  it('is there once the cluster has stored it', async () => {
    await assertHeld(stored({ policyMigration: { enabled: 'Disabled' } }), expected);
  });

  it('stops the run where the cluster has dropped it: nothing was taken off for the policies', async () => {
    await assert.rejects(assertHeld(stored({ node: {} }), expected), { name: 'Fault', code: 'blocked', message: /has not kept/ });
  });
});
