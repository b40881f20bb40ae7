import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { AddOn, Variant } from '../../kernel/profile.ts';
import type { RolloutProgress, RolloutTarget, WorkloadName } from '../../kernel/rollout.ts';
import { judgeRollout } from '../../kube/judge-rollout.ts';
import { leanNode, leanPod } from '../../kube/lean-objects.ts';
import { type NodeFacts, nodeFacts, podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { eachOf } from '../survey/index.ts';

/** A document set that carries a workload of the target. */
export interface TargetDocuments {
  readonly documents: readonly KubeObject[];
}

interface PodTemplateShape {
  readonly spec?: {
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly name: string; readonly image: string }[] } };
  };
}

/** What a workload must become, read from the target's own document; undefined if the target does not have it. */
export function rolloutTarget(workload: WorkloadName, target: TargetDocuments): RolloutTarget | undefined {
  const { kind, namespace, name, container, ready } = workload;
  const document = target.documents.find(
    (one) => one.kind === kind && one.metadata.name === name && (one.metadata.namespace ?? namespace) === namespace,
  );
  const containers = (document as PodTemplateShape | undefined)?.spec?.template?.spec?.containers ?? [];
  const image = containers.find((one) => one.name === container)?.image;
  return image === undefined ? undefined : { kind, namespace, name, container, image, ready };
}

/** The same for a workload that the service cannot do without; others may be switched off. */
export function neededTarget(workload: WorkloadName, target: TargetDocuments): RolloutTarget | undefined {
  const found = rolloutTarget(workload, target);
  return found && { ...found, neverEmpty: true };
}

/** Agents, Typha, add-ons and controllers of a variant, in the order in which they are rolled. */
export function rolloutTargets(
  variant: Variant,
  target: TargetDocuments,
  addOns: readonly { addOn: AddOn; documents: readonly KubeObject[] }[],
): readonly RolloutTarget[] {
  const typha = variant.typha && rolloutTarget(variant.typha, target);
  const beside = addOns.map(({ addOn, documents }) => rolloutTarget(addOn.workload, { documents }));
  const all = [neededTarget(variant.agent, target), typha, ...beside, neededTarget(variant.controllers, target)];
  return all.filter((one) => one !== undefined);
}

/** 120 s for each node, never under ten minutes: agents roll one at a time (domain §5). */
export function defaultWaitMs(nodes: number): number {
  return Math.max(600_000, nodes * 120_000);
}

/** How far each target is, read once. */
export async function readRollouts(
  sources: Pick<Sources, 'cluster' | 'clock'>,
  targets: readonly RolloutTarget[],
  nodes: readonly NodeFacts[],
): Promise<readonly RolloutProgress[]> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const now = sources.clock.now().getTime();
  return eachOf(targets, 4, async (target) => {
    const workload = await sources.cluster.get(K[target.kind], target.name, target.namespace);
    const pods = workload ? await podsOf(sources, target, workload) : [];
    return judgeRollout({ target, workload, pods: pods.map(podFacts), nodes: byName, now });
  });
}

export async function readNodes(sources: Pick<Sources, 'cluster'>): Promise<readonly NodeFacts[]> {
  return (await sources.cluster.list(K.Node, { keep: leanNode })).map(nodeFacts);
}

function podsOf({ cluster }: Pick<Sources, 'cluster'>, { namespace }: RolloutTarget, workload: KubeObject) {
  return cluster.list(K.Pod, { namespace, labelSelector: selectorText(selectorOf(workload)), keep: leanPod });
}
