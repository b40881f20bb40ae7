import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget, WorkloadName } from '../../kernel/rollout.ts';
import type { NodeFacts } from '../../kube/pod-facts.ts';
import { leftoversIn, readTarget, type Target, targetsOf, variantOf } from '../install-manifest/index.ts';
import { neededTarget, readNodes, readRollouts, rolloutTarget } from '../rollout/index.ts';
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
