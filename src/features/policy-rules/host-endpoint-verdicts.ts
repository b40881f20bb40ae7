import {
  type AutomaticSettings,
  type AutomaticSigns,
  automaticEndpoint,
  automaticName,
  effective,
  type HostEndpoint,
  isAllInterfaces,
  isLabelledOwn,
  isTakenForOwn,
  originOf,
  whyUncovered,
} from './host-endpoint.ts';
import { type LabelCopies, labelCopies } from './label-copies.ts';
import { inherited, type PolicyWorld, type Posture, postureOf } from './posture.ts';
import { type ChangedPolicy, type EndpointsOverTime, NO_RULES, type RuleChanges, type RuleSets, ruleChanges } from './rule-changes.ts';
import type { Labels } from './selector.ts';
import { type ChangeVerdict, compare, type LaneVerdict, worst } from './verdict.ts';

export interface NodeFacts {
  /** As endpoints name it: in a key-value store it may have another name than the Kubernetes node. */
  readonly name: string;
  /** The Kubernetes node. */
  readonly node: string;
  /** Labels of the Kubernetes node. */
  readonly labels: Labels;
  /** Labels that only the service's own node has: the controllers copy them too; where both have a key the Kubernetes node wins. */
  readonly ownLabels?: Labels;
  /** Addresses that its automatic endpoint will have, where none stands yet. */
  readonly addresses?: readonly string[];
}

export interface FleetFacts {
  readonly nodes: readonly NodeFacts[];
  readonly endpoints: readonly HostEndpoint[];
  readonly settings: AutomaticSettings;
  readonly signs: AutomaticSigns;
  readonly world: PolicyWorld;
  /** By what rules select endpoints; without them verdicts use only the policies in force. */
  readonly rules?: RuleSets;
}

/** A moment of the migration: enabling acts on the whole fleet at once, deleting on one node. */
export interface Moment {
  readonly verdict: ChangeVerdict;
  readonly changes: readonly LaneVerdict[];
  /** Name of the endpoint that is in force from then on; undefined: the host has none. */
  readonly endpoint?: string;
}

export interface NodeVerdict {
  readonly node: string;
  /** Name of the Kubernetes node, whose labels the user sees and changes. */
  readonly kubernetesNode: string;
  readonly verdict: ChangeVerdict;
  /** True if its automatic endpoint is in force already; it is compared with the old one that stands behind it. */
  readonly inForce: boolean;
  readonly atEnable: Moment;
  readonly atDelete: Moment;
  /** Old all-interfaces endpoints of the node, by name. */
  readonly old: readonly HostEndpoint[];
  readonly unclear: readonly HostEndpoint[];
  readonly labels: LabelCopies;
  /** The node's once those of its old endpoints are copied: nothing less may be on the automatic endpoint that is waited for. */
  readonly nodeLabels: Labels;
  /** With which labels its automatic endpoint was evaluated; the controllers' own mark is not among them. */
  readonly endpointLabels: Labels;
  /** Why the node gets no automatic endpoint, if it gets none. */
  readonly uncovered?: 'name-taken' | 'no-default' | 'templates-only';
  /** True if its automatic endpoint stands, with addresses. */
  readonly covered: boolean;
  /** Old endpoints with named ports, which automatic ones do not have. */
  readonly lostPorts: readonly string[];
}

export interface FleetVerdicts {
  /** Per node of the cluster what applies to its host now, from enabling on, and once its old endpoints are gone (§4.7). */
  readonly hosts: readonly NodeVerdict[];
  /** Every policy of which rules select otherwise, for whatever else is subject to it. */
  readonly policies: readonly ChangedPolicy[];
}

export function fleetVerdicts(fleet: FleetFacts): FleetVerdicts {
  const { world, rules = NO_RULES } = fleet;
  const byNode = Map.groupBy(fleet.endpoints, ({ node }) => node);
  // Names are the whole cluster's: whichever host an endpoint is of, no other can have its name.
  const byName = new Map(fleet.endpoints.map((endpoint) => [endpoint.name, endpoint]));
  const hosts = fleet.nodes.map((node) => hostOf(node, byNode.get(node.name) ?? [], byName, fleet));
  const { policies, withRules } = ruleChanges(rules, placesOf(fleet, hosts), (endpoint) => inherited(endpoint, world));
  return { hosts: hosts.map((host) => verdictOf(host, world, fleet.signs, withRules)), policies };
}

/** Endpoints of other interfaces and of hosts outside the cluster stay; what bears the controllers’ label there by mistake goes. */
function placesOf(fleet: FleetFacts, hosts: readonly Host[]): readonly EndpointsOverTime[] {
  const stays = (one: HostEndpoint) => !isAutomaticOrTaken(one, fleet.signs);
  const now = endpointsWithoutNode(fleet);
  const elsewhere = now.filter(stays);
  return [
    ...hosts.map(({ endpoints, old, kept, automatic }) => {
      const end = [...endpoints.filter((one) => !isAllInterfaces(one) && stays(one)), ...kept, ...automatic];
      return { now: endpoints, enabled: [...end, ...old], end };
    }),
    { now, enabled: elsewhere, end: elsewhere },
  ];
}

/** What the controllers adopt or delete with the setting, whatever its interface; endpoints of their templates stay. */
function isAutomaticOrTaken(endpoint: HostEndpoint, signs: AutomaticSigns): boolean {
  return isTakenForOwn(endpoint, signs) || (isAllInterfaces(endpoint) && isLabelledOwn(endpoint, signs));
}

/** Endpoints that name a node which is not in the cluster: no automatic one will stand in for them. */
export function endpointsWithoutNode({ nodes, endpoints }: Pick<FleetFacts, 'nodes' | 'endpoints'>): readonly HostEndpoint[] {
  const names = new Set(nodes.map(({ name }) => name));
  return endpoints.filter(({ node }) => !names.has(node));
}

/** The all-interfaces endpoints of a node, by what becomes of them. */
type Host = ReturnType<typeof hostOf>;

function hostOf(node: NodeFacts, endpoints: readonly HostEndpoint[], byName: ReadonlyMap<string, HostEndpoint>, fleet: FleetFacts) {
  const { signs, world } = fleet;
  const everywhere = endpoints.filter(isAllInterfaces);
  const old = everywhere.filter((endpoint) => originOf(endpoint, signs) === 'old');
  const { ownLabels = {} } = node;
  const labels = labelCopies(old, node.labels, signs, ownLabels);
  const uncovered = uncoveredBecause(node.name, byName, fleet);
  const nodeLabels = { ...ownLabels, ...node.labels, ...Object.fromEntries(labels.copies.map(({ key, value }) => [key, value])) };
  const standing = everywhere.find((one) => originOf(one, signs) === 'automatic');
  // Those of the existing one, whatever their source. A label removed from the node goes at the controllers' next look.
  const { [signs.createdBy]: _, ...standingLabels } = standing?.labels ?? {};
  const endpointLabels: Labels = { ...standingLabels, ...nodeLabels };
  const addresses = standing && standing.expectedIPs.length > 0 ? standing.expectedIPs : (node.addresses ?? []);
  // What is not known is none of those that are there.
  const expectedIPs = addresses.length > 0 ? addresses : [`an address of ${node.node}`];
  // What bears the controllers’ label is theirs: they make it what `automatic` is, or delete it, whoever made it.
  const kept = everywhere.filter((endpoint) => !old.includes(endpoint) && !isLabelledOwn(endpoint, signs));
  const made = automaticEndpoint(node.name, endpointLabels, signs, world.allowAllProfile);
  const automatic = uncovered ? [] : [{ ...made, expectedIPs }];
  // `endpoints`: all of the node, of single interfaces too; `automatic`: one or none.
  return { node, endpoints, everywhere, old, kept, automatic, labels, nodeLabels, endpointLabels, uncovered };
}

function verdictOf(host: Host, world: PolicyWorld, signs: AutomaticSigns, withRules: RuleChanges['withRules']): NodeVerdict {
  const { node, endpoints, everywhere, old, kept, automatic, labels, nodeLabels, endpointLabels, uncovered } = host;
  const now = effective(everywhere);
  const enabled = effective([...old, ...kept, ...automatic]);
  const afterwards = effective([...kept, ...automatic]);
  const inForce = old.length > 0 && now !== undefined && originOf(now, signs) === 'automatic';
  const before = inForce ? effective([...old, ...kept]) : now;
  const [atNow, atEnd] = [postureOf(before, world), postureOf(afterwards, world)];
  // The endpoint in force once enabled is one of the two: the old one still, or the automatic one already.
  const atEnabled = enabled === before ? atNow : enabled === afterwards ? atEnd : postureOf(enabled, world);
  const atEnable = moment(atNow, withRules(atEnabled, atNow, 'atEnable'), enabled);
  const atDelete = moment(atNow, withRules(atEnd, atNow, 'atDelete'), afterwards);
  return {
    node: node.name,
    kubernetesNode: node.node,
    verdict: worst([atEnable.verdict, atDelete.verdict]),
    inForce,
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

function uncoveredBecause(
  node: string,
  byName: ReadonlyMap<string, HostEndpoint>,
  { settings, signs }: FleetFacts,
): NodeVerdict['uncovered'] {
  const named = byName.get(automaticName(node, signs));
  if (named && originOf(named, signs) !== 'automatic') return 'name-taken';
  if (settings.createDefault) return undefined;
  return settings.templates > 0 ? 'templates-only' : 'no-default';
}

/** A host without its old endpoints, and how today's policies treat it otherwise than they would treat those. */
export interface AfterRemoval {
  readonly node: string;
  readonly changes: readonly LaneVerdict[];
}

/**
 * The verdicts by what exists, not by what is expected: the automatic endpoint with its present labels, or none. `removed`: old endpoints
 * the migration deleted; unchanged hosts are left out.
 */
export function afterRemoval(
  removed: readonly HostEndpoint[],
  { nodes, endpoints, signs, world }: Pick<FleetFacts, 'nodes' | 'endpoints' | 'signs' | 'world'>,
): readonly AfterRemoval[] {
  const names = new Set(nodes.map(({ name }) => name));
  const standing = Map.groupBy(endpoints, ({ node }) => node);
  const posture = (some: readonly HostEndpoint[]) => postureOf(effective(some), world);
  return [...Map.groupBy(removed, ({ node }) => node)].flatMap(([node, old]) => {
    const here = standing.get(node) ?? [];
    const byHand = here.filter((one) => originOf(one, signs) !== 'automatic');
    const changes = names.has(node) ? compare(posture([...old, ...byHand]), posture(here)) : [];
    return changes.length > 0 ? [{ node, changes }] : [];
  });
}
