import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Datastore } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import { cliResources, temporaryPolicies } from '../policies/index.ts';
import { findServiceCli } from '../service-cli/index.ts';
import { eachOf } from '../survey/index.ts';

/** CRDs of kinds that the target no longer has, with the number of objects that each still holds. */
export async function readLeftBehind(cluster: ClusterReader, { profile, options }: Context) {
  const removed = profile.removedKinds.filter(({ since }) => !isOlder(options.release, since));
  const found = await eachOf(removed, 4, async ({ group, plural }) => {
    const name = `${plural}.${group}`;
    if (!(await cluster.get(K.CustomResourceDefinition, name))) return [];
    const [resource] = await servedIn(cluster, [group], plural);
    return [{ name, objects: resource ? (await cluster.list(resource, { metadataOnly: true })).length : 0 }];
  });
  return found.flat();
}

/** In the stored v1 group, or with native v3 CRDs in the v3 group; in key-value mode as the CLI lists them (§4.5/6). Throws Fault if it cannot be asked. */
export async function readTemporaryPolicies(sources: Sources, context: Context, datastore: Datastore): Promise<readonly KubeObject[]> {
  const { cluster } = sources;
  const { profile } = context;
  if (datastore === 'kvstore') {
    const call = await findServiceCli(sources, context, datastore);
    if ('missing' in call) throw new Fault('failed', call.missing, []);
    return temporaryPolicies(await cliResources(sources, call)('globalnetworkpolicies'), profile);
  }
  const [resource] = await servedIn(cluster, [profile.crdGroup, profile.apiGroup], 'globalnetworkpolicies');
  if (!resource) return [];
  return temporaryPolicies(await cluster.list(resource), profile);
}

/** The resource in each group that has it. Throws Fault('failed') if none has and one was unreadable, which is not "none". */
async function servedIn(cluster: ClusterReader, groups: readonly string[], plural: string): Promise<readonly Kind[]> {
  const { kinds, failed } = await cluster.discover();
  const served = groups.flatMap((group) => kinds.filter((one) => one.group === group && one.plural === plural));
  const unasked = groups.filter((group) => failed.includes(group));
  if (served.length === 0 && unasked.length > 0)
    throw new Fault('failed', `the discovery of ${unasked.join(', ')} fails`, ['repair the API behind it: kubectl get apiservices']);
  return served;
}
