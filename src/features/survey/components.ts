import { counted } from '../../kernel/counted.ts';
import type { ComponentVersion } from '../../kernel/installation.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageRelease, parseImage, sameRelease } from '../../kernel/release.ts';
import type { PodFacts } from '../../kube/pod-facts.ts';
import { type Container, containersOf, initContainersOf, isNamed } from '../../kube/workload.ts';

type Component = 'controllers' | 'typha' | 'apiserver' | 'csi' | 'operator';

/** Components that carry the service's own release; the operator counts for itself, flannel is another project's. */
export const RELEASED: ReadonlySet<string> = new Set(['agent', 'cni', 'controllers', 'typha', 'apiserver', 'csi']);

/** Every container of the service's workloads with its image: the agents' first, then their pods', then the others'. */
export function componentsOf(
  agent: Agent | undefined,
  workloads: readonly KubeObject[],
  pods: readonly PodFacts[],
  profile: Profile,
): readonly ComponentVersion[] {
  const others = workloads.filter((workload) => workload !== agent?.object);
  return [
    ...(agent ? agentComponents(agent, profile) : []),
    ...(agent ? podComponents(agent, pods) : []),
    ...others.flatMap((workload) =>
      containersOf(workload).flatMap((container) => {
        const component = componentName(workload, container, profile);
        return component ? [version(component, refText(refOf(workload)), container)] : [];
      }),
    ),
  ];
}

/** Components whose release is known and is not the agents'. */
export function mixedComponents(components: readonly ComponentVersion[], release: string | undefined): readonly ComponentVersion[] {
  if (release === undefined) return [];
  return components.filter((item) => RELEASED.has(item.component) && item.release !== undefined && !sameRelease(item.release, release));
}

export function hasComponent(components: readonly ComponentVersion[], component: Component): boolean {
  return components.some((item) => item.component === component);
}

function version(component: string, workload: string, container: Container): ComponentVersion {
  const image = container.image ?? '';
  const release = imageRelease(image);
  return { component, workload, container: container.name, image, ...(release ? { release } : {}) };
}

function agentComponents({ object, container }: Agent, profile: Profile): readonly ComponentVersion[] {
  const workload = agentText({ object });
  const rest = [...containersOf(object).filter((other) => other !== container), ...initContainersOf(object)];
  return [version('agent', workload, container), ...rest.map((other) => version(companionOf(other, profile), workload, other))];
}

/** What runs in the agents' pods beside the agent: the agent's own image, the CNI installer, or another (flannel). */
function companionOf({ name, image = '' }: Container, profile: Profile): string {
  if (isImageOf(image, profile.images.agent)) return 'agent';
  if (name === profile.cniInstaller || isImageOf(image, profile.images.cni)) return 'cni';
  return parseImage(image).name;
}

/** Running agents whose image is not the workload's: one line per image, so that a thousand nodes stay readable. */
function podComponents({ object, container }: Agent, pods: readonly PodFacts[]): readonly ComponentVersion[] {
  const { namespace = '', name } = object.metadata;
  const mine = pods.filter((pod) => pod.namespace === namespace && pod.name.startsWith(`${name}-`));
  const images = mine.flatMap((pod) => pod.images[container.name] ?? []).filter((image) => image !== container.image);
  return [...Map.groupBy(images, (image) => image)].map(([image, { length }]) =>
    version('agent', `${counted(length, 'pod')} of DaemonSet/${namespace}/${name}`, { name: container.name, image }),
  );
}

function componentName(workload: KubeObject, { name, image = '' }: Container, profile: Profile): Component | undefined {
  const { operator, variants, addOns, images, registries } = profile;
  const placed = serviceNamespaces(profile).includes(workload.metadata.namespace ?? '');
  const byName: Readonly<Record<Component, readonly (string | undefined)[]>> = {
    controllers: [...variants.map((variant) => variant.controllers.container), operator.controllers.container],
    typha: [...variants.map((variant) => variant.typha?.container), operator.typha?.container],
    apiserver: addOns.filter(({ id }) => id === 'apiserver').map((addOn) => addOn.workload.container),
    csi: addOns.filter(({ id }) => id === 'csi').map((addOn) => addOn.workload.container),
    operator: [operator.deployment],
  };
  return (Object.keys(byName) as Component[]).find((component) => {
    if (component !== 'operator' && !placed) return false;
    return byName[component].includes(name) || (isImageOf(image, images[component]) && isFromRegistry(image, registries));
  });
}

/** Namespaces in which the service's workloads run, whatever the path. */
export function serviceNamespaces(profile: Profile): readonly string[] {
  const { operator, variants, addOns } = profile;
  return [
    ...new Set([
      ...variants.map((variant) => variant.agent.namespace),
      operator.workloadNamespace,
      operator.namespace,
      ...addOns.flatMap((addOn) => [addOn.workload.namespace, ...addOn.otherNamespaces]),
    ]),
  ];
}

/** A DaemonSet that runs the service's agent. */
export interface Agent {
  readonly object: KubeObject;
  readonly container: Container;
}

export interface Agents {
  /** In the operator's namespace, by the operator's name. */
  readonly operated: readonly Agent[];
  /** By the name of a manifest variant. */
  readonly named: readonly Agent[];
  /** Anything else that runs the agent: another name or another namespace. */
  readonly custom: readonly Agent[];
}

/** Sorts the DaemonSets that run the agent by who could have made them (domain §2.1). */
export function findAgents(daemonSets: readonly KubeObject[], profile: Profile): Agents {
  const agents = daemonSets.flatMap((object) => agentOf(object, profile) ?? []);
  const operated = agents.filter(({ object }) => isNamed(object, profile.operator.agent));
  const named = agents.filter(({ object }) => profile.variants.some((variant) => isNamed(object, variant.agent)));
  const custom = agents.filter((agent) => !operated.includes(agent) && !named.includes(agent));
  return { operated, named, custom };
}

function agentOf(object: KubeObject, profile: Profile): Agent | undefined {
  const names = new Set([profile.operator.agent.container, ...profile.variants.map((variant) => variant.agent.container)]);
  const containers = containersOf(object);
  const container =
    containers.find(({ name }) => names.has(name)) ??
    // `node` alone is a common name, so the registry must be known as well.
    containers.find(({ image = '' }) => isImageOf(image, profile.images.agent) && isFromRegistry(image, profile.registries));
  return container ? { object, container } : undefined;
}

/** `DaemonSet/kube-system/netsvc-node` */
export function agentText({ object }: Pick<Agent, 'object'>): string {
  return refText({ kind: 'DaemonSet', namespace: object.metadata.namespace, name: object.metadata.name });
}

/** True if the last path segment is one of the names, or ends with one of several words: mirrors without folders have `tigera-calico_node`. */
export function isImageOf(image: string, names: readonly string[]): boolean {
  const name = parseImage(image).name.replaceAll(/[._]/g, '-');
  return names.some((one) => name === one || (one.includes('-') && name.endsWith(one)));
}

/** True if the image lies in one of the registries (`quay.io/calico`, `calico`), or below it. */
export function isFromRegistry(image: string, registries: readonly string[]): boolean {
  const { repository } = parseImage(image);
  return registries.some((registry) => repository === registry || repository.startsWith(`${registry}/`));
}
