import assert from 'node:assert/strict';
import { assertHeld, waitPolicies } from '../../../src/features/policies/effects.ts';
import type { PoliciesSettled } from '../../../src/features/policies/stored-policies.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';

const settings = {
  ...{ group: 'crd.projectcalico.org', version: 'v1', kind: 'KubeControllersConfiguration' },
  ...{ plural: 'kubecontrollersconfigurations', namespaced: false },
};
const held = { type: 'renaming-held', kind: settings, name: 'default', field: 'spec.controllers.policyMigration.enabled' } as const;
const stored = (controllers: object) => ({
  get: async () => ({ apiVersion: 'crd.projectcalico.org/v1', kind: settings.kind, metadata: { name: 'default' }, spec: { controllers } }),
});

describe('the hold of the renaming of policies', () => {
  it('is there once the cluster has stored it', async () => {
    await assertHeld(stored({ policyMigration: { enabled: 'Disabled' } }), held);
  });

  it('stops the run where the cluster has dropped it: nothing was removed for the policies', async () => {
    await assert.rejects(assertHeld(stored({ node: {} }), held), { name: 'Fault', code: 'blocked', message: /has not kept/ });
  });
});

const policies = {
  ...{ group: 'crd.projectcalico.org', version: 'v1', kind: 'GlobalNetworkPolicy' },
  ...{ plural: 'globalnetworkpolicies', namespaced: false },
};
const expected = { kinds: [policies] } as unknown as PoliciesSettled;
const away = new ApiFailure(0, 'ECONNREFUSED', 'no answer from https://api: connect ECONNREFUSED');

/** A server that gives these answers one after the other, the last one again and again. */
async function waited(...answers: readonly (ApiFailure | 'none pending')[]): Promise<number> {
  let [now, asked] = [0, 0];
  const clock = {
    now: () => new Date(now),
    async sleep(ms: number) {
      now += ms;
    },
  };
  const cluster = {
    get: async () => undefined,
    async list() {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (answer instanceof ApiFailure) throw answer;
      return [];
    },
  };
  await waitPolicies({ cluster, clock }, expected, { timeoutMs: 10_000, stop: new AbortController().signal, report: () => undefined });
  return asked;
}

describe('waitPolicies', () => {
  it('goes on while the API server is away for a moment', async () => {
    assert.equal(await waited(away, new ApiFailure(503, 'ServiceUnavailable', 'later'), 'none pending'), 3);
  });

  it('ends with what the server said if it stays away for all of the time', async () => {
    await assert.rejects(waited(away), (thrown) => thrown === away);
  });

  it('ends at once at a refusal that waiting cannot change', async () => {
    await assert.rejects(waited(new ApiFailure(403, 'Forbidden', 'no'), 'none pending'), (thrown) => !(thrown instanceof Fault));
  });
});
