import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageAge, imageRelease, isOlder } from '../../kernel/release.ts';
import type { WorkloadName } from '../../kernel/rollout.ts';
import { leanPod } from '../../kube/lean-objects.ts';
import { type PodFacts, podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { serviceWorkloads } from '../rollout/index.ts';
import { containersOf, readPinnedImages, shapeOf } from '../survey/index.ts';

/** The controllers of the service: while those of a newer release run, they rename policies and write host endpoints (domain §7.2b). */
export type ControllersName = Pick<WorkloadName, 'namespace' | 'name' | 'container'>;

export interface Controllers {
  readonly deployment: KubeObject;
  readonly replicas: number;
  /** Of its container. */
  readonly image: string;
  readonly pods: readonly PodFacts[];
}

/** The images of the release that is gone back to: by their digests where those are known, else by their tags. */
export interface OldImages {
  readonly container: string;
  readonly release: string;
  readonly digests: readonly string[];
}

/** Where an operator makes the controllers, a set of images may pin them. */
export async function readOldImages(
  cluster: Pick<ClusterReader, 'list' | 'resolve'>,
  { container }: ControllersName,
  { operator }: Installation,
  context: Pick<Context, 'profile' | 'goal'>,
): Promise<OldImages> {
  const pinned = operator ? await readPinnedImages(cluster, context) : [];
  return { container, release: context.goal.release, digests: pinned.map(({ digest }) => digest) };
}

export const isOfOld = (image: string, { release, digests }: OldImages): boolean => imageAge(image, release, digests) === 'of';

/** Undefined where the variant is not known. */
export function controllersName(installation: Installation, profile: Profile): ControllersName | undefined {
  const controllers = serviceWorkloads(installation, profile)?.controllers;
  return controllers && { namespace: controllers.namespace, name: controllers.name, container: controllers.container };
}

/** Undefined where there are none. */
export async function readControllers(
  cluster: Pick<ClusterReader, 'get' | 'list'>,
  { namespace, name, container }: ControllersName,
): Promise<Controllers | undefined> {
  const deployment = await cluster.get(K.Deployment, name, namespace);
  if (!deployment) return undefined;
  const image = containersOf(deployment).find((one) => one.name === container)?.image ?? '';
  const pods = await runningPods(cluster, deployment);
  return { deployment, image, pods, replicas: shapeOf(deployment).spec?.replicas ?? 1 };
}

/** Pods of the Deployment that may still run something: one that has ended only waits to be deleted. */
export async function runningPods(cluster: Pick<ClusterReader, 'list'>, deployment: KubeObject): Promise<readonly PodFacts[]> {
  const labelSelector = selectorText(selectorOf(deployment));
  const { namespace = '' } = deployment.metadata;
  const pods = await cluster.list(K.Pod, { namespace, keep: leanPod, ...(labelSelector ? { labelSelector } : {}) });
  return pods.map(podFacts).filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed');
}

/** Why they may still rename policies; undefined where they do not: stopped, of the old release, or older than the one that began it. */
export function whyRenaming({ deployment, replicas, pods, image }: Controllers, old: OldImages, since: string): string | undefined {
  const isOld = (one: string) => {
    const release = imageRelease(one);
    return isOfOld(one, old) || (release !== undefined && isOlder(release, since));
  };
  const { namespace = '', name } = deployment.metadata;
  if (!isOld(image) && replicas > 0) return `Deployment/${namespace}/${name} wants ${replicas} of them`;
  const newer = pods.filter(({ images }) => !isOld(images[old.container] ?? ''));
  return newer.length === 0 ? undefined : `${newer.map((pod) => `Pod/${pod.namespace}/${pod.name}`).join(', ')} still run`;
}
