import type { AddressChange } from './address-changes.ts';
import type { GlobalPolicy, Tier } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { type Direction, type PacketEnd, type ProfileWorld, profilesEnd } from './rules.ts';
import { type Labels, type Predicate, predicateOf } from './selector.ts';

/** Ways of a packet for host endpoint policies: to or from the host, through it, before translation, before tracking. */
export const LANES = ['ingress', 'egress', 'forward-ingress', 'forward-egress', 'pre-dnat', 'untracked'] as const;
export type Lane = (typeof LANES)[number];

/** What becomes of packets of one lane, beside the failsafe ports, which are always open. */
export interface LanePosture {
  /** Names of the policies in force, in their order. */
  readonly policies: readonly string[];
  readonly end: PacketEnd;
  /** Names of ports that rules of these policies use and that an endpoint has no more: `http of hosts`. */
  readonly lostPorts?: readonly string[];
  /** What comes to address sets of rules of these policies, or goes. */
  readonly addresses?: readonly AddressChange[];
}

export type Posture = Readonly<Record<Lane, LanePosture>>;

/** What policies are evaluated with. `policies` in order. */
export interface PolicyWorld extends ProfileWorld {
  readonly policies: readonly GlobalPolicy[];
  readonly tiers: ReadonlyMap<string, Tier>;
  /** True in eBPF mode: only there untracked policies act on endpoints of all interfaces. */
  readonly untracked?: boolean;
}

const UNPOLICED: Posture = onEach(() => ({ policies: [], end: 'allow' }));

/** Millions of postures are made: the lanes are written out, not looped over. */
export function onEach<T>(of: (lane: Lane) => T): Readonly<Record<Lane, T>> {
  return {
    ingress: of('ingress'),
    egress: of('egress'),
    'forward-ingress': of('forward-ingress'),
    'forward-egress': of('forward-egress'),
    'pre-dnat': of('pre-dnat'),
    untracked: of('untracked'),
  };
}

/** What is in force on a host whose all-interfaces endpoint this is; without one nothing is policed there. */
export function postureOf(endpoint: Pick<HostEndpoint, 'labels' | 'profiles'> | undefined, world: PolicyWorld): Posture {
  if (!endpoint) return UNPOLICED;
  const lanes = policiesByLane(inherited(endpoint, world), world);
  return onEach((lane) => ({ policies: lanes[lane].names, end: endOf(lane, lanes[lane].policies, endpoint, world) }));
}

/** Forwarded traffic is let through where no policy is about it; no early policy drops it at its end. */
function endOf(
  lane: Lane,
  policies: readonly TrackedPolicy[],
  { profiles }: Pick<HostEndpoint, 'profiles'>,
  world: PolicyWorld,
): PacketEnd {
  if (lane === 'ingress' || lane === 'egress') return mayPassAll(policies, lane, world) ? profilesEnd(profiles, lane, world) : 'deny';
  return policies.length === 0 || lane === 'pre-dnat' || lane === 'untracked' ? 'allow' : 'deny';
}

/** The policies in force on that host, in their order. */
export function policiesInForce(
  endpoint: Pick<HostEndpoint, 'labels' | 'profiles'>,
  world: PolicyWorld,
): (lane: Lane) => readonly GlobalPolicy[] {
  const lanes = policiesByLane(inherited(endpoint, world), world);
  return (lane) => lanes[lane].policies.map(({ policy }) => policy);
}

/** The policies of one lane, in their order. */
interface LanePolicies {
  readonly policies: readonly TrackedPolicy[];
  readonly names: readonly string[];
}

const BITS: Readonly<Record<Lane, number>> = {
  ingress: 1,
  egress: 2,
  'forward-ingress': 4,
  'forward-egress': 8,
  'pre-dnat': 16,
  untracked: 32,
};
const EVERY = 63;
const NONE: LanePolicies = { policies: [], names: [] };

/** In one pass for millions of pairs of endpoint and policy; lanes with the same policies share one list. */
function policiesByLane(labels: Labels, world: PolicyWorld): Readonly<Record<Lane, LanePolicies>> {
  const selected: TrackedPolicy[] = [];
  let [some, every] = [0, EVERY];
  for (const one of tracked(world)) {
    if (one.lanes === BITS.untracked && !world.untracked) continue;
    if (!one.selects(labels)) continue;
    selected.push(one);
    some |= one.lanes;
    every &= one.lanes;
  }
  const all = listOf(selected);
  return onEach((lane) => {
    const bit = BITS[lane];
    if ((some & bit) === 0) return NONE;
    return (every & bit) === 0 ? listOf(selected.filter(({ lanes }) => (lanes & bit) !== 0)) : all;
  });
}

function listOf(selected: readonly TrackedPolicy[]): LanePolicies {
  return { policies: selected, names: selected.map(({ policy }) => policy.name) };
}

interface TrackedPolicy {
  readonly policy: GlobalPolicy;
  readonly selects: Predicate;
  /** Bits of the lanes that it is about. */
  readonly lanes: number;
  /** Whether one of its rules may pass packets on to the next tier. */
  readonly passesOn: Readonly<Record<Direction, boolean>>;
}

function trackedPolicy(policy: GlobalPolicy): TrackedPolicy {
  const passesOn = (way: Direction) => policy.rules[way].some(({ action }) => action?.toLowerCase() === 'pass');
  return {
    policy,
    selects: predicateOf(policy.selector),
    lanes: lanesOf(policy),
    passesOn: { ingress: passesOn('ingress'), egress: passesOn('egress') },
  };
}

function lanesOf({ preDnat, doNotTrack, directions, applyOnForward }: GlobalPolicy): number {
  if (preDnat || doNotTrack) return directions.includes('ingress') ? BITS[preDnat ? 'pre-dnat' : 'untracked'] : 0;
  return directions.reduce((bits, way) => bits | BITS[way] | (applyOnForward ? BITS[`forward-${way}`] : 0), 0);
}

const trackedOf = new WeakMap<PolicyWorld['policies'], readonly TrackedPolicy[]>();

function tracked({ policies }: PolicyWorld): readonly TrackedPolicy[] {
  const known = trackedOf.get(policies) ?? policies.map(trackedPolicy);
  trackedOf.set(policies, known);
  return known;
}

/** An endpoint's own labels win over those that its profiles give; of two profiles the first wins. */
export function inherited(endpoint: Pick<HostEndpoint, 'labels' | 'profiles'>, world: Pick<PolicyWorld, 'profiles'>): Labels {
  if (endpoint.profiles.every((name) => Object.keys(world.profiles.get(name)?.labels ?? {}).length === 0)) return endpoint.labels;
  return Object.assign({}, ...endpoint.profiles.map((name) => world.profiles.get(name)?.labels ?? {}).toReversed(), endpoint.labels);
}

/** Profiles come into play if no policy is in force, or if every tier with one can pass the packet on. Those of a tier stand together. */
function mayPassAll(policies: readonly TrackedPolicy[], way: Direction, world: PolicyWorld): boolean {
  let tier: string | undefined;
  let passes = true;
  for (const { policy, passesOn } of policies) {
    if (policy.tier !== tier) {
      if (!passes) return false;
      tier = policy.tier;
      passes = world.tiers.get(tier)?.defaultAction === 'Pass';
    }
    passes ||= passesOn[way];
  }
  return passes;
}
