import { Fault } from '../kernel/fault.ts';
import { groupOf, type Kind, type ObjectRef } from '../kernel/object.ts';
import type { ClusterReader } from '../kernel/ports.ts';

/** The resource behind an object's apiVersion and kind. Throws Fault('failed') if the server does not serve it. */
export async function servedKind(cluster: Pick<ClusterReader, 'resolve'>, { apiVersion, kind }: ObjectRef): Promise<Kind> {
  const served = await cluster.resolve(apiVersion, kind);
  if (!served)
    throw new Fault('failed', `the API server does not serve ${kind} in group ${groupOf(apiVersion) || 'core'}`, [
      'look at its APIService or CustomResourceDefinition, then run the same command again',
    ]);
  return served;
}
