import type { KubeObject } from '../../kernel/object.ts';
import { storedMetadata } from '../../kube/stored-metadata.ts';

export interface HostEndpoint {
  readonly name: string;
  readonly uid?: string;
  readonly node: string;
  /** `*` is every interface of the host; undefined: found by its addresses. */
  readonly interfaceName?: string;
  readonly expectedIPs: readonly string[];
  readonly profiles: readonly string[];
  readonly ports: readonly NamedPort[];
  readonly labels: Readonly<Record<string, string>>;
}

export interface NamedPort {
  readonly name: string;
  readonly protocol?: unknown;
  readonly port?: number;
}

/**
 * Whose an endpoint is (§4.7/3): the controllers' own bears their label **and** the suffix of the name; an old one has neither.
 * One sign alone is unclear: nothing of ours touches it.
 */
export type EndpointOrigin = 'automatic' | 'old' | 'unclear';

/** How automatic endpoints are distinguished: the profile's label, its value, and the suffix of their names. */
export interface AutomaticSigns {
  readonly createdBy: string;
  readonly createdByValue: string;
  readonly autoHepSuffix: string;
}

/** Reads a host endpoint as it is stored, or as the v3 API serves it. */
export function hostEndpointOf(object: KubeObject, apiGroup: string): HostEndpoint {
  const spec = (object.spec ?? {}) as Partial<HostEndpoint>;
  return {
    name: object.metadata.name,
    ...(object.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
    node: spec.node ?? '',
    ...(spec.interfaceName ? { interfaceName: spec.interfaceName } : {}),
    expectedIPs: spec.expectedIPs ?? [],
    profiles: spec.profiles ?? [],
    ports: spec.ports ?? [],
    labels: storedMetadata(object, apiGroup).labels,
  };
}

/** What the controllers that run were given as a variable, as they write into their configuration at their start (domain §8.2). */
export function givenVariable(configuration: KubeObject | undefined, name: string): string | undefined {
  const { status } = (configuration ?? {}) as { readonly status?: { readonly environmentVars?: Readonly<Record<string, string>> } };
  return status?.environmentVars?.[name];
}

export function originOf(endpoint: Pick<HostEndpoint, 'name' | 'labels'>, signs: AutomaticSigns): EndpointOrigin {
  const labelled = isLabelledOwn(endpoint, signs);
  const named = endpoint.name.endsWith(signs.autoHepSuffix);
  if (labelled === named) return labelled ? 'automatic' : 'old';
  return 'unclear';
}

/**
 * Made manually, and the controllers’ own all the same: they know theirs by the label alone, and delete one whose name they did not
 * give at their next start or its node’s next change (host endpoint notes 1.4).
 */
export function isTakenForOwn(endpoint: Pick<HostEndpoint, 'name' | 'labels'>, signs: AutomaticSigns): boolean {
  return isLabelledOwn(endpoint, signs) && originOf(endpoint, signs) !== 'automatic';
}

export function isLabelledOwn({ labels }: Pick<HostEndpoint, 'labels'>, { createdBy, createdByValue }: AutomaticSigns): boolean {
  return labels[createdBy] === createdByValue;
}

export function isAllInterfaces(endpoint: HostEndpoint): boolean {
  return endpoint.interfaceName === '*';
}

/** The agents use one all-interfaces endpoint of a node: the one whose name sorts first, byte by byte. */
export function effective(endpoints: readonly HostEndpoint[]): HostEndpoint | undefined {
  return endpoints
    .filter(isAllInterfaces)
    .reduce<HostEndpoint | undefined>((first, next) => (first && first.name <= next.name ? first : next), undefined);
}
