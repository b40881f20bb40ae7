import type { GlobalPolicy } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { letsThrough } from './lets-through.ts';
import { LANES, type Lane, type LanePosture, type PolicyWorld, policiesInForce, postureOf } from './posture.ts';

/** What becomes of a host when policies are no more. */
export interface HostWithout {
  readonly endpoint: HostEndpoint;
  /** Ways on which everything would be dropped: what is left in force there, policies or profiles, allows nothing. */
  readonly denied: readonly LaneWithout[];
  /** Ways on which other policies would decide alone. */
  readonly decided: readonly LaneWithout[];
}

export interface LaneWithout {
  readonly lane: Lane;
  readonly after: LanePosture;
}

/**
 * Host endpoints on which one of the policies is in force, and what would hold there without them (§4.4/7). Several: one policy can be
 * stored under two names.
 */
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
    const after = postureOf(endpoint, rest);
    const withPosture = (some: readonly Lane[]) => some.map((lane) => ({ lane, after: after[lane] }));
    // Where nothing gets through as it is, for an earlier policy drops it, the removal changes nothing.
    const denied = lanes.filter((lane) => {
      const left = inForce(lane).filter(({ name }) => !names.has(name));
      return !letsThrough(lane, left, endpoint, world) && letsThrough(lane, inForce(lane), endpoint, world);
    });
    const decided = lanes.filter((lane) => !denied.includes(lane) && after[lane].policies.length > 0);
    return [{ endpoint, denied: withPosture(denied), decided: withPosture(decided) }];
  });
}
