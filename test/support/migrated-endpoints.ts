import { automaticEndpoint, type HostEndpoint, isLabelledOwn } from '../../src/features/policy-rules/host-endpoint.ts';
import type { FleetFacts, NodeVerdict } from '../../src/features/policy-rules/host-endpoint-verdicts.ts';

export type Times = readonly [now: readonly HostEndpoint[], enabled: readonly HostEndpoint[], end: readonly HostEndpoint[]];

/** What the controllers and the migration make of the endpoints. */
export function timesOf({ endpoints, signs, world, nodes }: FleetFacts, verdicts: readonly NodeVerdict[]): Times {
  const old = new Set(verdicts.flatMap((verdict) => verdict.old.map(({ name }) => name)));
  const automatic = verdicts.map(({ node, endpointLabels }) => ({
    ...automaticEndpoint(node, endpointLabels, signs, world.allowAllProfile),
    expectedIPs: nodes.find(({ name }) => name === node)?.addresses ?? [],
  }));
  const kept = endpoints.filter((one) => !isLabelledOwn(one, signs));
  const enabled = [...kept, ...automatic];
  return [endpoints, enabled, enabled.filter(({ name }) => !old.has(name))];
}
