import { jsonAt, mapAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { storedMetadata } from '../../kube/stored-metadata.ts';
import type { Labels } from './selector.ts';

export interface HostEndpoint {
  readonly name: string;
  readonly node: string;
  /** `*` is every interface of the host; undefined: found by its addresses. */
  readonly interfaceName?: string;
  readonly expectedIPs: readonly string[];
  readonly profiles: readonly string[];
  readonly ports: readonly NamedPort[];
  readonly labels: Readonly<Record<string, string>>;
}

interface NamedPort {
  readonly name: string;
  readonly protocol?: unknown;
  readonly port?: number;
}

/** Whose an endpoint is (§4.7/3): the controllers' has their label **and** suffix, an old one neither. One sign is unclear. */
type EndpointOrigin = 'automatic' | 'old' | 'unclear';

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
  return textAt(configuration, 'status', 'environmentVars', name);
}

export function originOf(endpoint: Pick<HostEndpoint, 'name' | 'labels'>, signs: AutomaticSigns): EndpointOrigin {
  const labelled = isLabelledOwn(endpoint, signs);
  const named = endpoint.name.endsWith(signs.autoHepSuffix);
  if (labelled === named) return labelled ? 'automatic' : 'old';
  return 'unclear';
}

/**
 * Manually created, yet treated as the controllers' own, which they know by the label alone. One with a name they did not give is deleted
 * at their next start or its node's next change (host endpoint notes 1.4).
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

/** A node, and labels that its automatic endpoint must have before an old one may go. */
export interface ExpectedCoverage {
  readonly node: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A node without a complete automatic endpoint, and what is missing. */
export interface Uncovered {
  readonly node: string;
  readonly why: string;
}

/**
 * Why a node has no complete automatic endpoint yet (§4.7/2); undefined once it has. Only an all-interfaces endpoint with addresses and
 * labels proves that the controllers use the setting: their own status says it too early.
 */
export function whyUncovered(
  { node, labels }: ExpectedCoverage,
  endpoints: readonly HostEndpoint[],
  signs: AutomaticSigns,
): string | undefined {
  const endpoint = endpoints.find((one) => one.node === node && isAllInterfaces(one) && originOf(one, signs) === 'automatic');
  if (!endpoint) return 'no automatic endpoint yet';
  if (endpoint.expectedIPs.length === 0) return `${endpoint.name} has no addresses yet`;
  const lacking = Object.entries(labels).filter(([key, value]) => endpoint.labels[key] !== value);
  return lacking.length === 0 ? undefined : `${endpoint.name} lacks the labels ${lacking.map(([key]) => key).join(', ')}`;
}

/** Why the automatic endpoint is not the evaluated one; undefined if it is. A new label may let other policies select it. */
export function whyOther(expected: ExpectedCoverage, endpoints: readonly HostEndpoint[], signs: AutomaticSigns): string | undefined {
  const why = whyUncovered(expected, endpoints, signs);
  const endpoint = endpoints.find((one) => one.node === expected.node && isAllInterfaces(one) && originOf(one, signs) === 'automatic');
  if (why !== undefined || !endpoint) return why;
  const more = Object.keys(endpoint.labels).filter((key) => key !== signs.createdBy && !Object.hasOwn(expected.labels, key));
  return more.length === 0 ? undefined : `${endpoint.name} has got the labels ${more.join(', ')} meanwhile`;
}

/** What the controllers' configuration says about automatic endpoints. */
export interface AutomaticSettings {
  readonly autoCreate: boolean;
  /** False: only templates make endpoints (since v3.30). */
  readonly createDefault: boolean;
  readonly templates: number;
}

/** Reads `spec.controllers.node.hostEndpoint` of the controllers' configuration; what is not set has the service's default. */
export function automaticSettings(spec: unknown): AutomaticSettings {
  const { autoCreate, createDefaultHostEndpoint, templates } = mapAt(spec, 'controllers', 'node', 'hostEndpoint');
  return {
    autoCreate: isWord(autoCreate, 'enabled'),
    createDefault: !isWord(createDefaultHostEndpoint, 'disabled'),
    templates: Array.isArray(templates) ? templates.length : 0,
  };
}

/** Old releases take `enabled` for `Enabled`. */
function isWord(value: unknown, word: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === word;
}

export function automaticName(node: string, signs: AutomaticSigns): string {
  return `${node}${signs.autoHepSuffix}`;
}

/** The endpoint that the controllers make for a node with these labels. */
export function automaticEndpoint(node: string, labels: Labels, signs: AutomaticSigns, allowAllProfile: string): HostEndpoint {
  return {
    name: automaticName(node, signs),
    node,
    interfaceName: '*',
    expectedIPs: [],
    profiles: [allowAllProfile],
    ports: [],
    labels: { ...labels, [signs.createdBy]: signs.createdByValue },
  };
}

/** Ports of a host that the agents leave open whatever the policies say: `tcp:22`. */
export interface FailsafePorts {
  readonly inbound: readonly string[];
  readonly outbound: readonly string[];
}

interface PortSpec {
  readonly protocol?: string;
  readonly port?: number;
  readonly net?: string;
}

/** The ports that are in force: the agents' variables, else their configuration, else the defaults. Undefined where neither tells. */
export function failsafePorts(
  spec: unknown,
  variables: { readonly [D in keyof FailsafePorts]?: string | undefined },
  defaults: FailsafePorts | undefined,
): FailsafePorts | undefined {
  const of = (way: keyof FailsafePorts, field: string) =>
    fromVariable(variables[way]) ?? (jsonAt(spec, field) as readonly PortSpec[] | undefined)?.map(portText) ?? defaults?.[way];
  const [inbound, outbound] = [of('inbound', 'failsafeInboundHostPorts'), of('outbound', 'failsafeOutboundHostPorts')];
  return inbound && outbound ? { inbound, outbound } : undefined;
}

/** `tcp:22,udp:68`, or `none`. */
function fromVariable(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  return text.split(',').flatMap((one) => (one.trim() === '' || one.trim().toLowerCase() === 'none' ? [] : [one.trim()]));
}

function portText({ protocol = 'tcp', port, net }: PortSpec): string {
  return `${protocol.toLowerCase()}:${net === undefined ? '' : `${net}:`}${port ?? '?'}`;
}
