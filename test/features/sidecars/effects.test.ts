import assert from 'node:assert/strict';
import { assertRestartable } from '../../../src/features/sidecars/workloads.ts';
import { Outdated } from '../../../src/kernel/fault.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { object } from '../../fixtures/facts.ts';

const workload = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
const web = (paused = false, updateStrategy = {}) => object('apps/v1', 'Deployment/shop/web', { spec: { paused, updateStrategy } });
const budget = (name: string, disruptionsAllowed: number) =>
  object('policy/v1', `PodDisruptionBudget/shop/${name}`, { status: { disruptionsAllowed } });

function ask(objects: readonly KubeObject[], budgets: readonly string[] = []) {
  const cluster = {
    resolve: async () => K.Deployment,
    get: async (kind: { readonly kind: string }, name: string, namespace?: string) =>
      objects.find((one) => one.kind === kind.kind && one.metadata.name === name && one.metadata.namespace === namespace),
  };
  return assertRestartable(cluster, { workload, budgets });
}

const because = (words: RegExp) => (thrown: unknown) => thrown instanceof Outdated && words.test(thrown.message);

describe('right before a workload is restarted', () => {
  it('it may be where it is there and its budgets have room', async () => {
    await ask([web(), budget('a', 1)], ['a']);
  });

  it('a budget that went away binds nobody', async () => {
    await ask([web()], ['a']);
  });

  it('it may not be when it is gone', () => assert.rejects(ask([]), because(/Deployment\/shop\/web is gone/)));
  it('it may not be when it was paused', () => assert.rejects(ask([web(true)]), because(/is paused/)));
  it('it may not be when its pods are replaced by hand only by now', async () => {
    await assert.rejects(ask([web(false, { type: 'OnDelete' })]), because(/would not replace every pod: .* OnDelete/));
    await assert.rejects(ask([web(false, { rollingUpdate: { partition: 1 } })]), because(/would not replace every pod: .* partition 1/));
  });
  it('it may not be when one of its budgets was spent', () =>
    assert.rejects(ask([web(), budget('a', 1), budget('b', 0)], ['a', 'b']), because(/PodDisruptionBudget b allows no disruption/)));
});
