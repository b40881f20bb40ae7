import type { HostEndpoint } from '../core/host-endpoint.ts';
import type { GlobalPolicy } from './global-policy.ts';
import { LANES, type Lane, type LanePosture, type PolicyWorld, postureOf } from './posture.ts';

/** What becomes of a host when policies are no more. */
export interface HostWithout {
  readonly endpoint: HostEndpoint;
  /** Ways on which everything would be dropped: no other policy, and no profile that lets it through. */
  readonly denied: readonly Lane[];
  /** Ways on which other policies would decide alone. */
  readonly decided: readonly { readonly lane: Lane; readonly after: LanePosture }[];
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
    const now = postureOf(endpoint, world);
    const lanes = LANES.filter((lane) => now[lane].policies.some((name) => names.has(name)));
    if (lanes.length === 0) return [];
    const after = postureOf(endpoint, rest);
    const denied = lanes.filter((lane) => after[lane].policies.length === 0 && after[lane].end === 'deny');
    const decided = lanes.filter((lane) => after[lane].policies.length > 0).map((lane) => ({ lane, after: after[lane] }));
    return [{ endpoint, denied, decided }];
  });
}
