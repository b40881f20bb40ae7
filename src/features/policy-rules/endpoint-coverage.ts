import type { AutomaticSigns, HostEndpoint } from './host-endpoint.ts';
import { isAllInterfaces, originOf } from './host-endpoint.ts';

/** A node, and labels that its automatic endpoint must have before an old one may go. */
export interface ExpectedCoverage {
  readonly node: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A node without a complete automatic endpoint, and what is missing. */
export interface Uncovered {
  readonly node: string;
  readonly why: string;
}

/**
 * Why a node's automatic endpoint does not stand yet (§4.7/2); undefined once it does. That the controllers have taken the setting
 * is proved by this alone: an all-interfaces endpoint of theirs for the node, with addresses and with the labels.
 * Their own status says it too early.
 */
export function whyUncovered(
  { node, labels }: ExpectedCoverage,
  endpoints: readonly HostEndpoint[],
  signs: AutomaticSigns,
): string | undefined {
  const endpoint = endpoints.find((one) => one.node === node && isAllInterfaces(one) && originOf(one, signs) === 'automatic');
  if (!endpoint) return 'no automatic endpoint yet';
  if (endpoint.expectedIPs.length === 0) return `${endpoint.name} has no addresses yet`;
  const lacking = Object.entries(labels).filter(([key, value]) => endpoint.labels[key] !== value);
  return lacking.length === 0 ? undefined : `${endpoint.name} lacks the labels ${lacking.map(([key]) => key).join(', ')}`;
}

/**
 * Why the automatic endpoint is not the one that was evaluated; undefined if it is. One label more may let other policies select it:
 * its node was labelled meanwhile.
 */
export function whyOther(expected: ExpectedCoverage, endpoints: readonly HostEndpoint[], signs: AutomaticSigns): string | undefined {
  const why = whyUncovered(expected, endpoints, signs);
  const endpoint = endpoints.find((one) => one.node === expected.node && isAllInterfaces(one) && originOf(one, signs) === 'automatic');
  if (why !== undefined || !endpoint) return why;
  const more = Object.keys(endpoint.labels).filter((key) => key !== signs.createdBy && !Object.hasOwn(expected.labels, key));
  return more.length === 0 ? undefined : `${endpoint.name} has got the labels ${more.join(', ')} meanwhile`;
}
