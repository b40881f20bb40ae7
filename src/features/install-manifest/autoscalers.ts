import { isRecord } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject, ObjectRef } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { AUTOSCALER } from '../survey/index.ts';

/** The same with each HorizontalPodAutoscaler by its name; where they may not be listed, it stays one without a name. */
export async function withAutoscalers(cluster: Pick<ClusterReader, 'list'>, planned: PlannedObject): Promise<PlannedObject> {
  const { takers, ref } = planned;
  if (!takers?.some(({ name }) => name === AUTOSCALER)) return planned;
  const names = await autoscalersOf(cluster, ref);
  if (names.length === 0) return planned;
  const name = `HorizontalPodAutoscaler ${names.join(', ')}`;
  return { ...planned, takers: takers.map((taker) => (taker.name === AUTOSCALER ? { ...taker, name } : taker)) };
}

async function autoscalersOf(cluster: Pick<ClusterReader, 'list'>, ref: ObjectRef): Promise<readonly string[]> {
  const { namespace } = ref;
  try {
    const all = await cluster.list(K.HorizontalPodAutoscaler, namespace === undefined ? {} : { namespace });
    return all.filter((one) => scales(one, ref)).map(({ metadata }) => metadata.name);
  } catch (thrown) {
    if (thrown instanceof ApiFailure) return [];
    throw thrown;
  }
}

function scales({ spec }: KubeObject, { kind, name }: ObjectRef): boolean {
  const target = isRecord(spec) ? spec.scaleTargetRef : undefined;
  return isRecord(target) && target.kind === kind && target.name === name;
}
