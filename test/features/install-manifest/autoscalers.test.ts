import assert from 'node:assert/strict';
import { withAutoscalers } from '../../../src/features/install-manifest/preview.ts';
import { takersOf } from '../../../src/features/survey/field-takers.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { PlannedObject } from '../../../src/kernel/plan.ts';
import { ApiFailure, type ListOptions } from '../../../src/kernel/ports.ts';

const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'typha', namespace: 'kube-system' };
const taken = [{ path: '.spec.replicas', manager: 'kube-controller-manager', subresource: 'scale' }];

function autoscaler(name: string, kind: string, target: string): KubeObject {
  const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind, name: target } };
  return { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name, namespace: 'kube-system' }, spec };
}

async function namesOf(there: readonly KubeObject[] | ApiFailure, by: PlannedObject['taken'] = taken) {
  const asked: (string | undefined)[] = [];
  const list = async (_: unknown, { namespace }: ListOptions = {}) => {
    asked.push(namespace);
    if (there instanceof ApiFailure) throw there;
    return there;
  };
  const live: KubeObject = { ...ref, metadata: ref };
  const planned: PlannedObject = { ref, change: 'update', fields: [], hidden: [], taken: by, takers: takersOf(live, by, true) };
  const { takers = [] } = await withAutoscalers({ list }, planned);
  return { names: takers.map(({ name }) => name), asked };
}

describe('autoscalers whose numbers are taken', () => {
  it('are named, those of this very workload only', async () => {
    const there = [
      autoscaler('typha', 'Deployment', 'typha'),
      autoscaler('other', 'Deployment', 'web'),
      autoscaler('set', 'StatefulSet', 'typha'),
    ];
    const { names, asked } = await namesOf(there);
    assert.deepEqual(names, ['HorizontalPodAutoscaler typha']);
    assert.deepEqual(asked, ['kube-system']);
  });

  it('stay without a name where they may not be listed, or are gone', async () => {
    for (const there of [new ApiFailure(403, 'Forbidden', 'no'), new ApiFailure(404, 'NotFound', 'no'), []]) {
      assert.deepEqual((await namesOf(there)).names, ['a HorizontalPodAutoscaler']);
    }
  });

  it('are not asked for where nothing of theirs is taken', async () => {
    const { names, asked } = await namesOf([], [{ path: '.spec.replicas', manager: 'keda' }]);
    assert.deepEqual([names, asked], [['KEDA'], []]);
  });
});
