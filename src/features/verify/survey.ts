import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Datastore, Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type Kind, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import type { RolloutProgress, RolloutTarget, WorkloadName } from '../../kernel/rollout.ts';
import type { NodeFacts } from '../../kube/pod-facts.ts';
import { leftoversIn, readTarget, type Target, targetsOf, variantOf } from '../install-manifest/index.ts';
import { cliResources, temporaryPolicies } from '../policies/index.ts';
import { neededTarget, readNodes, readRollouts, rolloutTarget } from '../rollout/index.ts';
import { findServiceCli } from '../service-cli/index.ts';
import { eachOf } from '../survey/index.ts';

/** Undefined on paths without a full manifest: there the operator decides what its workloads become. */
export async function readTargetIfAny(sources: Sources, context: Context, installation: Installation): Promise<Target | undefined> {
  if (installation.path !== 'manifest' && installation.path !== 'kvstore') return undefined;
  return readTarget(sources, context, installation);
}

/** Against the target's own documents; on the operator's paths against what the operator rendered (NS-302 evaluates its release). */
export async function readResult(
  sources: Sources,
  context: Context,
  installation: Installation,
  target: Target | undefined,
  nodes?: readonly NodeFacts[],
): Promise<readonly RolloutProgress[]> {
  const targets = target
    ? targetsOf(context, target, variantOf(context, installation).id)
    : await renderedTargets(sources.cluster, context);
  return readRollouts(sources, targets, nodes ?? (await readNodes(sources)));
}

async function renderedTargets(cluster: ClusterReader, { profile }: Context): Promise<readonly RolloutTarget[]> {
  const { agent, controllers, typha } = profile.operator;
  const names: readonly WorkloadName[] = [agent, ...(typha ? [typha] : []), controllers];
  const found = await eachOf(names, 3, async (name) => {
    const live = await cluster.get(K[name.kind], name.name, name.namespace);
    return live ? (name === typha ? rolloutTarget : neededTarget)(name, { documents: [live] }) : undefined;
  });
  return found.filter((one) => one !== undefined);
}

/** What old releases had and the target's workloads have not. */
export async function readLeftovers(cluster: ClusterReader, context: Context, target: Target) {
  const documents = [target.manifest, ...target.addOns.map(({ manifest }) => manifest)].flatMap((manifest) =>
    manifest.documents.map(({ object }) => object),
  );
  const leftoversOf = leftoversIn(context);
  const found = await eachOf(documents.filter(isWorkload), 4, async (document) => {
    const { name, namespace } = document.metadata;
    const live = await cluster.get(document.kind === 'DaemonSet' ? K.DaemonSet : K.Deployment, name, namespace);
    const names = live ? leftoversOf(live, document).map((one) => one.name) : [];
    return names.length > 0 ? [{ object: refText(refOf(document)), names }] : [];
  });
  return found.flat();
}

function isWorkload({ kind }: KubeObject): boolean {
  return kind === 'DaemonSet' || kind === 'Deployment';
}

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
