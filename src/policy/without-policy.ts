import type { HostEndpoint } from '../core/host-endpoint.ts';
import type { GlobalPolicy } from './global-policy.ts';
import { LANES, type Lane, type LanePosture, type PolicyWorld, postureOf } from './posture.ts';

/** What becomes of a host when a policy is no more. */
export interface HostWithout {
  readonly endpoint: HostEndpoint;
  /** Ways on which everything would be dropped: no other policy, and no profile that lets it through. */
  readonly denied: readonly Lane[];
  /** Ways on which other policies would decide alone. */
  readonly decided: readonly { readonly lane: Lane; readonly after: LanePosture }[];
}

/** Host endpoints on which the policy is in force, and what would hold there without it (§4.4/7). */
export function hostsWithout(policy: GlobalPolicy, endpoints: readonly HostEndpoint[], world: PolicyWorld): readonly HostWithout[] {
  const rest: PolicyWorld = { ...world, policies: world.policies.filter(({ name }) => name !== policy.name) };
  return endpoints.flatMap((endpoint) => {
    const now = postureOf(endpoint, world);
    const lanes = LANES.filter((lane) => now[lane].policies.includes(policy.name));
    if (lanes.length === 0) return [];
    const after = postureOf(endpoint, rest);
    const denied = lanes.filter((lane) => after[lane].policies.length === 0 && after[lane].end === 'deny');
    const decided = lanes.filter((lane) => after[lane].policies.length > 0).map((lane) => ({ lane, after: after[lane] }));
    return [{ endpoint, denied, decided }];
  });
}
