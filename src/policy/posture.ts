import type { HostEndpoint } from '../core/host-endpoint.ts';
import { type Direction, type GlobalPolicy, hostPredicateOf, type Rule, type Tier } from './global-policy.ts';
import type { Labels, Predicate } from './selector.ts';

/**
 * The ways of a packet that policies of a host endpoint judge: to and from the host's own processes, through the host,
 * and before the kernel translates addresses.
 */
export const LANES = ['ingress', 'egress', 'forward-ingress', 'forward-egress', 'pre-dnat'] as const;
export type Lane = (typeof LANES)[number];

/** What becomes of packets of one lane, beside the failsafe ports, which are always open. */
export interface LanePosture {
  /** Names of the policies in force, in their order. */
  readonly policies: readonly string[];
  /** Where a packet ends that no policy decides: let through, dropped, or left to the rules of these profiles. */
  readonly end: 'allow' | 'deny' | { readonly profiles: readonly string[] };
}

export type Posture = Readonly<Record<Lane, LanePosture>>;

/** What policies are evaluated with. `policies` in order. */
export interface PolicyWorld {
  readonly policies: readonly GlobalPolicy[];
  readonly tiers: ReadonlyMap<string, Tier>;
  /** Rules of profiles, and the labels that they give. */
  readonly profiles: ReadonlyMap<string, EndpointProfile>;
  /** Name of the profile that lets everything through. */
  readonly allowAllProfile: string;
}

export interface EndpointProfile {
  readonly labels: Labels;
  readonly rules: Readonly<Record<Direction, readonly Rule[]>>;
}

/** A host without an endpoint on all interfaces: nothing is policed there. */
export const UNPOLICED: Posture = sameForAll({ policies: [], end: 'allow' });

function sameForAll(lane: LanePosture): Posture {
  return { ingress: lane, egress: lane, 'forward-ingress': lane, 'forward-egress': lane, 'pre-dnat': lane };
}

/**
 * What is in force on a host whose all-interfaces endpoint this is. Untracked policies do not act on such endpoints (domain §8.3).
 */
export function postureOf(endpoint: Pick<HostEndpoint, 'labels' | 'profiles'>, world: PolicyWorld): Posture {
  const lanes = policiesByLane(inherited(endpoint, world), world);
  return {
    ingress: laneOf(lanes.ingress, 'ingress', world, endpoint),
    egress: laneOf(lanes.egress, 'egress', world, endpoint),
    'forward-ingress': forwardLane(lanes['forward-ingress']),
    'forward-egress': forwardLane(lanes['forward-egress']),
    'pre-dnat': forwardLane(lanes['pre-dnat'], 'allow'),
  };
}

/** In one pass: on a large cluster millions of pairs of an endpoint and a policy are judged. */
function policiesByLane(labels: Labels, world: PolicyWorld): Readonly<Record<Lane, readonly GlobalPolicy[]>> {
  const lanes: Record<Lane, GlobalPolicy[]> = { ingress: [], egress: [], 'forward-ingress': [], 'forward-egress': [], 'pre-dnat': [] };
  for (const { policy, selects } of tracked(world)) {
    if (!selects(labels)) continue;
    if (policy.preDnat) lanes['pre-dnat'].push(policy);
    else
      for (const way of policy.directions) {
        lanes[way].push(policy);
        if (policy.applyOnForward) lanes[`forward-${way}`].push(policy);
      }
  }
  return lanes;
}

interface TrackedPolicy {
  readonly policy: GlobalPolicy;
  readonly selects: Predicate;
}

const trackedOf = new WeakMap<PolicyWorld['policies'], readonly TrackedPolicy[]>();

function tracked({ policies }: PolicyWorld): readonly TrackedPolicy[] {
  const known =
    trackedOf.get(policies) ??
    policies.filter(({ doNotTrack }) => !doNotTrack).map((policy) => ({ policy, selects: hostPredicateOf(policy) }));
  trackedOf.set(policies, known);
  return known;
}

/** An endpoint's own labels win over those that its profiles give. */
function inherited(endpoint: Pick<HostEndpoint, 'labels' | 'profiles'>, world: PolicyWorld): Labels {
  if (endpoint.profiles.every((name) => Object.keys(world.profiles.get(name)?.labels ?? {}).length === 0)) return endpoint.labels;
  return Object.assign({}, ...endpoint.profiles.map((name) => world.profiles.get(name)?.labels ?? {}), endpoint.labels);
}

function laneOf(
  policies: readonly GlobalPolicy[],
  way: Direction,
  world: PolicyWorld,
  endpoint: Pick<HostEndpoint, 'profiles'>,
): LanePosture {
  const names = policies.map(({ name }) => name);
  if (!mayPassAll(policies, way, world)) return { policies: names, end: 'deny' };
  return { policies: names, end: profilesEnd(endpoint.profiles, way, world) };
}

/** Profiles come into play if no policy is in force, or if every tier with one can pass the packet on. */
function mayPassAll(policies: readonly GlobalPolicy[], way: Direction, world: PolicyWorld): boolean {
  const tiers = new Set(policies.map(({ tier }) => tier));
  return [...tiers].every(
    (tier) =>
      world.tiers.get(tier)?.defaultAction === 'Pass' ||
      policies.some((policy) => policy.tier === tier && policy.rules[way].some(({ action }) => action?.toLowerCase() === 'pass')),
  );
}

/** Forwarded traffic is let through where no policy is about it. */
function forwardLane(policies: readonly GlobalPolicy[], otherwise: 'allow' | 'deny' = 'deny'): LanePosture {
  return { policies: policies.map(({ name }) => name), end: policies.length === 0 ? 'allow' : otherwise };
}

function profilesEnd(profiles: readonly string[], way: Direction, world: PolicyWorld): LanePosture['end'] {
  const decisive = profiles.filter((name) => name === world.allowAllProfile || (world.profiles.get(name)?.rules[way].length ?? 0) > 0);
  const first = decisive[0];
  if (first === undefined) return 'deny';
  return first === world.allowAllProfile || allowsAll(world.profiles.get(first)?.rules[way] ?? []) ? 'allow' : { profiles: decisive };
}

function allowsAll([first]: readonly Rule[]): boolean {
  if (!first) return false;
  const { action, ...conditions } = first;
  return action?.toLowerCase() === 'allow' && Object.values(conditions).every((value) => isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
