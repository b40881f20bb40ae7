import { type Evidence, notApplicable, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { type Installation, isOperated } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { AddOn, Profile, Variant } from '../../kernel/profile.ts';
import type { RolloutProgress, RolloutTarget, WorkloadName } from '../../kernel/rollout.ts';
import { judgeRollout } from '../../kube/judge-rollout.ts';
import { leanNode, leanPod } from '../../kube/lean-objects.ts';
import { type NodeFacts, nodeFacts, podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import {
  allContainersOf,
  containersOf,
  evidenceOf,
  isNamed,
  type PreflightFacts,
  shapeOf,
  type TargetFacts,
  withInstallation,
} from '../survey/index.ts';

/** Literal value of a variable of one container. */
export function envOf(workload: KubeObject | undefined, container: string, name: string): string | undefined {
  if (!workload) return undefined;
  return allContainersOf(workload)
    .find((one) => one.name === container)
    ?.env?.find((variable) => variable.name === name)?.value;
}

export interface ServiceWorkloads {
  readonly agent: WorkloadName;
  readonly controllers: WorkloadName;
  readonly typha?: WorkloadName;
}

/** Names of the workloads that carry an installation; undefined if its variant is not known. */
export function serviceWorkloads(installation: Installation, profile: Profile): ServiceWorkloads | undefined {
  const names = isOperated(installation) ? profile.operator : profile.variants.find((variant) => variant.id === installation.variant);
  if (!names) return undefined;
  const agent = installation.agent ? { ...names.agent, ...installation.agent } : names.agent;
  return { agent, controllers: names.controllers, ...(names.typha && installation.hasTypha ? { typha: names.typha } : {}) };
}

/** Evaluates the workloads of an installation; does not apply where their names are not known. */
export function withWorkloads<Facts extends Pick<PreflightFacts, 'detection'> = PreflightFacts>(
  judge: (names: ServiceWorkloads, facts: Facts, context: Context) => Verdict,
) {
  return withInstallation<Facts>((installation, facts, context) => {
    const names = serviceWorkloads(installation, context.profile);
    return names ? judge(names, facts, context) : notApplicable('the variant is not known: see NS-104');
  });
}

/** `kind`: for documents of many kinds; items of a list do not always say theirs. */
export function findWorkload(objects: readonly KubeObject[], name: Pick<WorkloadName, 'namespace' | 'name'>, kind?: string) {
  return objects.find((object) => isNamed(object, name) && (kind === undefined || object.kind === kind));
}

/** Pods that may be missing during a rollout; percentages are rounded down as the Deployment controller does. */
export function mayBeMissing(deployment: KubeObject): number {
  const { replicas = 1, strategy } = shapeOf(deployment).spec ?? {};
  if (strategy?.type === 'Recreate') return replicas;
  const allowed = strategy?.rollingUpdate?.maxUnavailable ?? '25%';
  if (typeof allowed === 'number') return allowed;
  return Math.floor((replicas * Number.parseInt(allowed, 10)) / 100);
}

/** Variables that a container of the workload sets more than once; in a document server-side apply refuses them (domain §6.4). */
export function duplicateEnv(workload: KubeObject): readonly Evidence[] {
  return allContainersOf(workload).flatMap(({ name, env = [] }) => {
    const names = env.map((variable) => variable.name);
    const twice = [...new Set(names.filter((one, index) => names.indexOf(one) !== index))];
    return twice.map((variable) => evidenceOf(workload, `container ${name} sets ${variable} more than once`));
  });
}

/** A document set that carries a workload of the target. */
type TargetDocuments = Pick<TargetFacts, 'documents'>;

/** What a workload must become, read from the target's own document; undefined if the target does not have it. */
export function rolloutTarget(workload: WorkloadName, target: TargetDocuments): RolloutTarget | undefined {
  const { kind, namespace, name, container, ready } = workload;
  const document = target.documents.find(
    (one) => one.kind === kind && one.metadata.name === name && (one.metadata.namespace ?? namespace) === namespace,
  );
  const image = document && containersOf(document).find((one) => one.name === container)?.image;
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
    const labelSelector = workload && selectorText(selectorOf(workload));
    const pods = workload ? await sources.cluster.list(K.Pod, { namespace: target.namespace, labelSelector, keep: leanPod }) : [];
    return judgeRollout({ target, workload, pods: pods.map(podFacts), nodes: byName, now });
  });
}

export async function readNodes(sources: Pick<Sources, 'cluster'>): Promise<readonly NodeFacts[]> {
  return (await sources.cluster.list(K.Node, { keep: leanNode })).map(nodeFacts);
}
