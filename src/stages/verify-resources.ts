import type { Context } from '../core/context.ts';
import { K } from '../core/kinds.ts';
import type { KubeObject } from '../core/object.ts';
import type { ClusterReader } from '../core/ports.ts';
import { eachOf } from './reading.ts';

/** CRDs of kinds that the target no longer has, with the number of objects that each still holds. */
export async function readLeftBehind(cluster: ClusterReader, { profile }: Context) {
  const found = await eachOf(profile.removedKinds, 4, async ({ group, plural, kind }) => {
    const name = `${plural}.${group}`;
    if (!(await cluster.get(K.CustomResourceDefinition, name))) return [];
    const { kinds } = await cluster.discover();
    const resource = kinds.find((one) => one.group === group && one.kind === kind && one.plural === plural);
    return [{ name, objects: resource ? (await cluster.list(resource, { metadataOnly: true })).length : 0 }];
  });
  return found.flat();
}

/**
 * Under its own name, or with the prefix that releases before the renaming stored it with (domain §7.2b);
 * in the stored v1 group, or with native v3 CRDs in the v3 group.
 */
export async function readTemporaryPolicies(cluster: ClusterReader, { profile }: Context): Promise<readonly KubeObject[]> {
  const { kinds } = await cluster.discover();
  const of = (group: string) => kinds.find((one) => one.group === group && one.plural === 'globalnetworkpolicies');
  const resource = of(profile.crdGroup) ?? of(profile.apiGroup);
  if (!resource) return [];
  const { temporaryPolicy: name, policyRenaming } = profile;
  const names = [name, ...(policyRenaming ? [`${policyRenaming.prefix}${name}`] : [])];
  const found = await Promise.all(names.map((one) => cluster.get(resource, one)));
  return found.filter((one) => one !== undefined);
}
