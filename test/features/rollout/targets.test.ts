import assert from 'node:assert/strict';
import { rolloutTargets } from '../../../src/features/rollout/targets.ts';
import { readResult } from '../../../src/features/verify/survey.ts';
import type { WorkloadName } from '../../../src/kernel/rollout.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation, object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { CALICO_TARGET } from '../../support/target.ts';

function documentOf({ kind, namespace, name, container }: WorkloadName, image: string, rest: object = {}) {
  const spec = { template: { spec: { containers: [{ name: container, image }] } }, selector: { matchLabels: { app: name } } };
  return object('apps/v1', `${kind}/${namespace}/${name}`, { metadata: { generation: 1 }, spec, ...rest });
}

describe('what a rolling update is waited for', () => {
  it('must run somewhere where it is the agents or the controllers; Typha and add-ons may be switched off', () => {
    const variant = calico.variants.find(({ id, typha }) => typha && id === 'policy-only') ?? calico.variants.find(({ typha }) => typha);
    assert.ok(variant?.typha);
    const documents = [variant.agent, variant.typha, variant.controllers].map((name) => documentOf(name, `i:${CALICO_TARGET}`));
    const addOns = calico.addOns.map((addOn) => ({ addOn, documents: [documentOf(addOn.workload, `i:${CALICO_TARGET}`)] }));
    const needed = rolloutTargets(variant, { documents }, addOns).map(({ name, neverEmpty }) => [name, neverEmpty === true]);
    assert.deepEqual(needed, [
      [variant.agent.name, true],
      [variant.typha.name, false],
      ...addOns.map(({ addOn }) => [addOn.workload.name, false]),
      [variant.controllers.name, true],
    ]);
  });

  it('is not over where an operator’s agents have been parked on no node', async () => {
    const { agent, controllers } = calico.operator;
    const counted = { observedGeneration: 1, replicas: 0, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0 };
    const parked = documentOf(agent, `i:${CALICO_TARGET}`, { status: { observedGeneration: 1, desiredNumberScheduled: 0 } });
    const scaled = documentOf(controllers, `i:${CALICO_TARGET}`, { status: counted });
    const none = { ...scaled, spec: { ...(scaled.spec as object), replicas: 0 } };
    const sources = { cluster: clusterOf([parked, none]).cluster, clock: { now: () => new Date(0) } } as never;
    const found = await readResult(sources, contextOf(), { ...installation, path: 'operator' }, undefined);
    assert.deepEqual(
      found.map(({ target, done, pending }) => [target.name, done, pending.split(':')[0]]),
      [agent, controllers].map(({ name }) => [name, false, 'it wants no pod']),
    );
  });
});
