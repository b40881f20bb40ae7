import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json-map.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { crosses } from './release-checks.ts';

/**
 * Objects through which others reach pods in the namespace of the operator's workloads. They are asked for only where the target begins to
 * guard it, and of each kind only where the server has it.
 */
export async function readReaching(
  cluster: Pick<ClusterReader, 'list' | 'resolve'>,
  { profile, options }: Context,
  { release }: Installation,
): Promise<readonly KubeObject[]> {
  const guarded = profile.operator.crossings?.guarded;
  if (!guarded || !crosses(release, options.release, guarded.since)) return [];
  const found = await Promise.all(
    guarded.reachedBy.map(async ({ apiVersion, kind }) => {
      const served = await cluster.resolve(apiVersion, kind);
      const all = served ? await cluster.list(served) : [];
      return all.map((one) => ({ ...one, apiVersion, kind })).filter((one) => reaches(one, guarded.namespace));
    }),
  );
  return found.flat();
}

function reaches(object: KubeObject, namespace: string): boolean {
  if (object.kind === 'Service')
    return object.metadata.namespace === namespace && ['LoadBalancer', 'NodePort'].includes(String(jsonAt(object.spec, 'type')));
  const selected = jsonAt(object.spec, 'namespaceSelector', 'matchNames');
  return object.metadata.namespace === namespace || (Array.isArray(selected) && selected.includes(namespace));
}
