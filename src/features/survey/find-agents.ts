import { type KubeObject, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseImage } from '../../kernel/release.ts';
import { type Container, containersOf, isNamed } from './workload.ts';

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
  const container = containers.find(({ name }) => names.has(name)) ?? containers.find(({ image }) => isAgentImage(image, profile));
  return container ? { object, container } : undefined;
}

/** `node` alone is a common name, so the registry must be known as well. */
function isAgentImage(image: string | undefined, profile: Profile): boolean {
  return image !== undefined && isImageOf(image, profile.images.agent) && isFromRegistry(image, profile.registries);
}

/** `DaemonSet/kube-system/netsvc-node` */
export function agentText({ object }: Agent): string {
  return refText({ kind: 'DaemonSet', namespace: object.metadata.namespace, name: object.metadata.name });
}

/** True if the last path segment is one of the names. */
export function isImageOf(image: string, names: readonly string[]): boolean {
  return names.includes(parseImage(image).name);
}

/** True if the image lies in one of the registries (`quay.io/calico`, `calico`), or below it. */
export function isFromRegistry(image: string, registries: readonly string[]): boolean {
  const { repository } = parseImage(image);
  return registries.some((registry) => repository === registry || repository.startsWith(`${registry}/`));
}
