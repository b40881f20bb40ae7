import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type GlobalPolicy, inOrder, labelPrefixes, labelsGiven, type Tier } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { type LanePosture, type PolicyWorld, policiesInForce, postureOf } from './posture.ts';
import { type Direction, isUnconditional, LANES, type Lane, profileRules, type Rule } from './rules.ts';

/** What becomes of a host when policies are no more. */
export interface HostWithout {
  readonly endpoint: HostEndpoint;
  /** Ways on which everything would be dropped: what is left in force there, policies or profiles, allows nothing. */
  readonly denied: readonly { readonly lane: Lane; readonly after: LanePosture }[];
}

/** Host endpoints under these policies and what holds without them (§4.4/7); one policy may be stored under two names. */
export function hostsWithout(
  gone: readonly GlobalPolicy[],
  endpoints: readonly HostEndpoint[],
  world: PolicyWorld,
): readonly HostWithout[] {
  const names = new Set(gone.map(({ name }) => name));
  const rest: PolicyWorld = { ...world, policies: world.policies.filter(({ name }) => !names.has(name)) };
  return endpoints.flatMap((endpoint) => {
    const inForce = policiesInForce(endpoint, world);
    const lanes = LANES.filter((lane) => inForce(lane).some(({ name }) => names.has(name)));
    if (lanes.length === 0) return [];
    // If an earlier policy already drops everything, the removal changes nothing.
    const denied = lanes.filter((lane) => {
      const left = inForce(lane).filter(({ name }) => !names.has(name));
      return !letsThrough(lane, left, endpoint, world) && letsThrough(lane, inForce(lane), endpoint, world);
    });
    const after = postureOf(endpoint, rest);
    return [{ endpoint, denied: denied.map((lane) => ({ lane, after: after[lane] })) }];
  });
}

/**
 * False if these policies drop every packet of the lane, except failsafe ports: the first deciding rule of a tier counts, then its default
 * action, then profiles. Conditions are not evaluated: a rule that allows anything lets something through.
 */
function letsThrough(
  lane: Lane,
  policies: readonly GlobalPolicy[],
  { profiles }: Pick<HostEndpoint, 'profiles'>,
  world: PolicyWorld,
): boolean {
  const way: Direction = lane === 'egress' || lane === 'forward-egress' ? 'egress' : 'ingress';
  for (const [tier, inTier] of Map.groupBy(policies, (policy) => policy.tier)) {
    const { allows, passes, leaves } = fateBy(inTier.flatMap(({ rules }) => rules[way]));
    if (allows) return true;
    // Policies evaluated that early are followed by the others: no tier drops the packet at its end.
    const passesAtEnd = lane === 'pre-dnat' || lane === 'untracked' || world.tiers.get(tier)?.defaultAction === 'Pass';
    if (!passes && !(leaves && passesAtEnd)) return false;
  }
  // Profiles are about the host's own traffic.
  return (lane !== 'ingress' && lane !== 'egress') || fateBy(profiles.flatMap((name) => profileRules(name, way, world))).allows;
}

/**
 * What may become of packets by rules in their order: let through, passed on to the next tier, left undecided. A rule without conditions
 * decides on all that is left: those after it never come into play.
 */
function fateBy(rules: readonly Rule[]) {
  let passes = false;
  for (const rule of rules) {
    const action = rule.action?.toLowerCase();
    if (action === 'allow') return { allows: true, passes, leaves: true };
    passes ||= action === 'pass';
    if ((action === 'deny' || action === 'pass') && isUnconditional(rule)) return { allows: false, passes, leaves: false };
  }
  return { allows: false, passes, leaves: true };
}

/** A pod by what policies select it by. */
interface PodPlace {
  readonly namespace: KubeObject['metadata'];
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
}

interface PodPolicies {
  /** Global ones and those of the pod's namespace. */
  readonly policies: readonly GlobalPolicy[];
  readonly tiers: readonly Tier[];
  readonly profile: Pick<Profile, 'apiGroup' | 'derivedProfiles' | 'allowAllProfile'>;
}

/** Policies that drop everything of a pod on a way; none if one that applies there may let something through. */
export function dropsAllOf(pod: PodPlace, way: Direction, { policies, tiers, profile }: PodPolicies): readonly GlobalPolicy[] {
  const labels = labelsOf(pod, profile);
  const own = policies.filter(
    ({ directions, selects, preDnat, doNotTrack }) => directions.includes(way) && !preDnat && !doNotTrack && selects(labels),
  );
  const { allowAllProfile } = profile;
  const world = { policies: own, tiers: new Map(tiers.map((tier) => [tier.name, tier])), profiles: new Map(), allowAllProfile };
  // Where every tier passes, the profile of the namespace lets everything through.
  if (own.length === 0 || letsThrough(way, inOrder(own, tiers), { profiles: [allowAllProfile] }, world)) return [];
  const denying = own.filter(({ rules }) => !rules[way].some(({ action }) => action?.toLowerCase() === 'allow'));
  return denying.length > 0 ? denying : own;
}

function labelsOf({ namespace, labels, serviceAccount }: PodPlace, profile: PodPolicies['profile']): Readonly<Record<string, string>> {
  const { apiGroup } = profile;
  const prefixes = labelPrefixes(profile);
  return {
    ...labelsGiven(namespace, prefixes.namespace, apiGroup),
    ...labelsGiven({ name: serviceAccount }, prefixes.serviceAccount, apiGroup),
    ...labels,
    [`${apiGroup}/namespace`]: namespace.name,
    [`${apiGroup}/serviceaccount`]: serviceAccount,
    [`${apiGroup}/orchestrator`]: 'k8s',
  };
}
