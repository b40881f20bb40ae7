import type { GlobalPolicy, Tier } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import type { SideChange } from './rule-sides.ts';
import { BITS, type Direction, type Lane, type PacketEnd, type ProfileWorld, profilesEnd } from './rules.ts';
import type { Labels } from './selector.ts';

/** What becomes of packets of one lane, beside the failsafe ports, which are always open. */
export interface LanePosture {
  /** Names of the policies in force, in their order. */
  readonly policies: readonly string[];
  readonly end: PacketEnd;
  /** What rules of these policies select otherwise. */
  readonly rules?: readonly SideChange[];
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
function endOf(lane: Lane, policies: readonly GlobalPolicy[], { profiles }: Pick<HostEndpoint, 'profiles'>, world: PolicyWorld): PacketEnd {
  if (lane === 'ingress' || lane === 'egress') return mayPassAll(policies, lane, world) ? profilesEnd(profiles, lane, world) : 'deny';
  return policies.length === 0 || lane === 'pre-dnat' || lane === 'untracked' ? 'allow' : 'deny';
}

/** The policies in force on that host, in their order. */
export function policiesInForce(
  endpoint: Pick<HostEndpoint, 'labels' | 'profiles'>,
  world: PolicyWorld,
): (lane: Lane) => readonly GlobalPolicy[] {
  const lanes = policiesByLane(inherited(endpoint, world), world);
  return (lane) => lanes[lane].policies;
}

/** The policies of one lane, in their order. */
interface LanePolicies {
  readonly policies: readonly GlobalPolicy[];
  readonly names: readonly string[];
}

const EVERY = 63;
const NONE: LanePolicies = { policies: [], names: [] };

/** In one pass for millions of pairs of endpoint and policy; lanes with the same policies share one list. */
function policiesByLane(labels: Labels, world: PolicyWorld): Readonly<Record<Lane, LanePolicies>> {
  const selected: GlobalPolicy[] = [];
  let [some, every] = [0, EVERY];
  for (const one of world.policies) {
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

function listOf(selected: readonly GlobalPolicy[]): LanePolicies {
  return { policies: selected, names: selected.map(({ name }) => name) };
}

/** An endpoint's own labels win over those that its profiles give; of two profiles the first wins. */
export function inherited(endpoint: Pick<HostEndpoint, 'labels' | 'profiles'>, world: Pick<PolicyWorld, 'profiles'>): Labels {
  if (endpoint.profiles.every((name) => Object.keys(world.profiles.get(name)?.labels ?? {}).length === 0)) return endpoint.labels;
  return Object.assign({}, ...endpoint.profiles.map((name) => world.profiles.get(name)?.labels ?? {}).toReversed(), endpoint.labels);
}

/** Profiles come into play if no policy is in force, or if every tier with one can pass the packet on. Those of a tier stand together. */
function mayPassAll(policies: readonly GlobalPolicy[], way: Direction, world: PolicyWorld): boolean {
  let tier: string | undefined;
  let passes = true;
  for (const { tier: own, passesOn } of policies) {
    if (own !== tier) {
      if (!passes) return false;
      tier = own;
      passes = world.tiers.get(tier)?.defaultAction === 'Pass';
    }
    passes ||= passesOn[way];
  }
  return passes;
}
