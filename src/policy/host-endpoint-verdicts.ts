import { whyUncovered } from '../core/endpoint-coverage.ts';
import { type AutomaticSigns, effective, type HostEndpoint, isAllInterfaces, isLabelledOwn, originOf } from '../core/host-endpoint.ts';
import { type AutomaticSettings, automaticEndpoint, automaticName } from './automatic-endpoint.ts';
import { type LabelCopies, labelCopies } from './label-copies.ts';
import { portNamesOf, type WithoutPortNames, withoutPortNames } from './port-names.ts';
import { type PolicyWorld, type Posture, postureOf, UNPOLICED } from './posture.ts';
import type { Labels } from './selector.ts';
import { compare, type LaneVerdict, type Verdict, worst } from './verdict.ts';

export interface NodeFacts {
  /** As endpoints name it: in a key-value store it may have another name than the Kubernetes node. */
  readonly name: string;
  /** The Kubernetes node. */
  readonly node: string;
  /** Labels of the Kubernetes node. */
  readonly labels: Labels;
  /** Labels that only the service's own node has: the controllers copy them too; where both have a key the Kubernetes node wins. */
  readonly ownLabels?: Labels;
}

export interface FleetFacts {
  readonly nodes: readonly NodeFacts[];
  readonly endpoints: readonly HostEndpoint[];
  readonly settings: AutomaticSettings;
  readonly signs: AutomaticSigns;
  readonly world: PolicyWorld;
}

/** A moment of the migration: enabling acts on the whole fleet at once, deleting on one node. */
export interface Moment {
  readonly verdict: Verdict;
  readonly changes: readonly LaneVerdict[];
  /** Name of the endpoint that is in force from then on; undefined: the host has none. */
  readonly endpoint?: string;
}

export interface NodeVerdict {
  readonly node: string;
  /** Name of the Kubernetes node, whose labels a person sees and changes. */
  readonly kubernetesNode: string;
  readonly verdict: Verdict;
  readonly endpoint?: string;
  readonly atEnable: Moment;
  readonly atDelete: Moment;
  /** Old all-interfaces endpoints of the node, by name. */
  readonly old: readonly HostEndpoint[];
  readonly unclear: readonly HostEndpoint[];
  readonly labels: LabelCopies;
  /** The node's once those of its old endpoints are copied: nothing less may be on the automatic endpoint that is waited for. */
  readonly nodeLabels: Labels;
  /** With which labels its automatic endpoint was judged; the controllers' own mark is not among them. */
  readonly endpointLabels: Labels;
  /** Why the node gets no automatic endpoint, if it gets none. */
  readonly uncovered?: 'name-taken' | 'no-default' | 'templates-only';
  /** True if its automatic endpoint stands, with addresses. */
  readonly covered: boolean;
  /** Old endpoints with named ports, which automatic ones do not have. */
  readonly lostPorts: readonly string[];
}

/** Per node of the cluster what applies to its host now, from enabling on, and once its old endpoints are gone (§4.7). */
export function hostEndpointVerdicts(fleet: FleetFacts): readonly NodeVerdict[] {
  const byNode = Map.groupBy(fleet.endpoints, ({ node }) => node);
  // Names are the whole cluster's: whichever host an endpoint is of, no other can have its name.
  const byName = new Map(fleet.endpoints.map((endpoint) => [endpoint.name, endpoint]));
  const going = fleet.nodes.flatMap(({ name }) => byNode.get(name) ?? []).filter((endpoint) => isOld(endpoint, fleet.signs));
  const withoutNames = withoutPortNames(portNamesOf(going), fleet.world.policies);
  return fleet.nodes.map((node) => verdictOf(node, byNode.get(node.name) ?? [], byName, { ...fleet, withoutNames }));
}

/** Endpoints that name a node which is not in the cluster: no automatic one will stand in for them. */
export function endpointsWithoutNode({ nodes, endpoints }: Pick<FleetFacts, 'nodes' | 'endpoints'>): readonly HostEndpoint[] {
  const names = new Set(nodes.map(({ name }) => name));
  return endpoints.filter(({ node }) => !names.has(node));
}

type ByName = ReadonlyMap<string, HostEndpoint>;

interface WholeFleet extends FleetFacts {
  /** By names of ports of old endpoints, of whichever node. */
  readonly withoutNames: WithoutPortNames;
}

const isOld = (endpoint: HostEndpoint, signs: AutomaticSigns) => isAllInterfaces(endpoint) && originOf(endpoint, signs) === 'old';

function verdictOf(node: NodeFacts, endpoints: readonly HostEndpoint[], byName: ByName, fleet: WholeFleet): NodeVerdict {
  const { signs, world, withoutNames } = fleet;
  const everywhere = endpoints.filter(isAllInterfaces);
  const old = everywhere.filter((endpoint) => isOld(endpoint, signs));
  const { ownLabels = {} } = node;
  const labels = labelCopies(old, node.labels, signs, ownLabels);
  const uncovered = uncoveredBecause(node.name, byName, fleet);
  const nodeLabels = { ...ownLabels, ...node.labels, ...Object.fromEntries(labels.copies.map(({ key, value }) => [key, value])) };
  const endpointLabels = { ...standingLabels(everywhere, signs), ...nodeLabels };
  const automatic = uncovered ? [] : [automaticEndpoint(node.name, endpointLabels, signs, world.allowAllProfile)];
  // What bears the controllers’ label is theirs: they make it what `automatic` is, or delete it, whoever made it.
  const kept = everywhere.filter((endpoint) => !old.includes(endpoint) && !isLabelledOwn(endpoint, signs));
  const now = effective(everywhere);
  const enabled = effective([...old, ...kept, ...automatic]);
  const afterwards = effective([...kept, ...automatic]);
  const posture = (endpoint: HostEndpoint | undefined): Posture => (endpoint ? postureOf(endpoint, world) : UNPOLICED);
  const [atNow, atEnd] = [posture(now), posture(afterwards)];
  // The endpoint in force once enabled is one of the two: the old one still, or the automatic one already.
  const atEnabled = enabled === now ? atNow : enabled === afterwards ? atEnd : posture(enabled);
  const atEnable = moment(atNow, atEnabled, enabled);
  const atDelete = moment(atNow, withoutNames(atEnd, portNamesOf(old)), afterwards);
  return {
    node: node.name,
    kubernetesNode: node.node,
    verdict: worst([atEnable.verdict, atDelete.verdict]),
    ...(now ? { endpoint: now.name } : {}),
    atEnable,
    atDelete,
    old,
    unclear: endpoints.filter((endpoint) => originOf(endpoint, signs) === 'unclear'),
    labels,
    nodeLabels,
    endpointLabels,
    ...(uncovered ? { uncovered } : {}),
    covered: whyUncovered({ node: node.name, labels: {} }, endpoints, signs) === undefined,
    lostPorts: old.filter(({ ports }) => ports.length > 0).map(({ name }) => name),
  };
}

function moment(before: Posture, after: Posture, endpoint: HostEndpoint | undefined): Moment {
  const changes = compare(before, after);
  return { verdict: worst(changes.map(({ verdict }) => verdict)), changes, ...(endpoint ? { endpoint: endpoint.name } : {}) };
}

/** Labels of the automatic endpoint that stands, wherever it has them from. What was taken off the node since is off it at the controllers' next look. */
function standingLabels(endpoints: readonly HostEndpoint[], signs: AutomaticSigns): Labels {
  const { [signs.createdBy]: _, ...labels } = endpoints.find((one) => originOf(one, signs) === 'automatic')?.labels ?? {};
  return labels;
}

function uncoveredBecause(node: string, byName: ByName, { settings, signs }: FleetFacts): NodeVerdict['uncovered'] {
  const named = byName.get(automaticName(node, signs));
  if (named && originOf(named, signs) !== 'automatic') return 'name-taken';
  if (settings.createDefault) return undefined;
  return settings.templates > 0 ? 'templates-only' : 'no-default';
}
