import { effective, type HostEndpoint } from '../../src/features/policy-rules/host-endpoint.ts';
import type { Moment } from '../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { LANES, type Lane, type PolicyWorld, policiesInForce } from '../../src/features/policy-rules/posture.ts';
import type { Verdict } from '../../src/features/policy-rules/verdict.ts';
import type { RealHost } from './calculation-graph.ts';
import { NODES } from './random-fleet.ts';
import { realEnd, realPorts, realSets } from './real-posture.ts';

const REAL_LANES: Readonly<Record<Lane, 'ingress' | 'egress' | 'fwd-ingress' | 'fwd-egress' | 'prednat' | 'untracked-in'>> = {
  ingress: 'ingress',
  egress: 'egress',
  'forward-ingress': 'fwd-ingress',
  'forward-egress': 'fwd-egress',
  'pre-dnat': 'prednat',
  untracked: 'untracked-in',
};

export interface Counts {
  hosts: number;
  same: number;
  changed: number;
  /** Lanes in which the policies stay and addresses in their rules change. */
  addresses: number;
  /** Lanes in which the policies stay and the end changes. */
  ends: number;
  /** Lanes in which the policies stay and ports by name go. */
  ports: number;
  /** Policies of pods in whose rules addresses change. */
  pods: number;
}

/** Addresses of hosts in random fleets. */
export const isOfHosts = (address: string) => /^(10\.9\.|fd09:)/.test(address);

/** What of each lane is otherwise here than there. */
export function otherPosture(real: RealHost, endpoints: readonly HostEndpoint[], node: string, world: PolicyWorld): readonly string[] {
  const ours = effective(endpoints.filter((one) => one.node === node));
  if ((ours?.name ?? '') !== real.effective) return [`${ours?.name} is in force here, ${real.effective} there`];
  if (!ours) return [];
  const inForce = policiesInForce(ours, world);
  return LANES.flatMap((lane) => {
    const [here, there] = [inForce(lane).map(({ tier, name }) => `${tier}:${name}`), namesIn(real, lane)];
    return here.join(' ') === there.join(' ') ? [] : [`${real.effective} ${lane}: ${here.join(' ')} here, ${there.join(' ')} there`];
  });
}

const namesIn = (real: RealHost, lane: Lane): readonly string[] =>
  (real[REAL_LANES[lane]]?.pols ?? []).map((one) => one.replace(/^([^:]*):GlobalNetworkPolicy\/\//, '$1:'));

/** Same policies, ends and members there must be the same here, and other ones other. */
export function otherMoment(before: RealHost, after: RealHost, { changes }: Moment, counts: Counts): readonly string[] {
  return LANES.flatMap((lane) => {
    const ours = changes.find((one) => one.lane === lane);
    const [was, is] = [before, after].map((host) => [...namesIn(host, lane), '→', endIn(host, lane)].join(' '));
    if (was !== is) {
      counts.ends += namesIn(before, lane).join(' ') === namesIn(after, lane).join(' ') ? 1 : 0;
      const verdict = expected(before, after, lane);
      return ours?.verdict === verdict ? [] : [`${lane}: ${ours?.verdict ?? 'same'} here, ${verdict} there: ${was} then ${is}`];
    }
    return [...otherAddresses(before, after, lane, ours, counts), ...otherPorts(before, after, lane, ours, counts)];
  });
}

type Change = Moment['changes'][number];

function expected(before: RealHost, after: RealHost, lane: Lane): Verdict {
  const isOpen = (host: RealHost) => namesIn(host, lane).length === 0 && endIn(host, lane) === 'allow';
  if (isOpen(after)) return 'OPEN';
  return isOpen(before) ? 'NEWLY POLICED' : 'CHANGED';
}

/** Of other lanes the end is the policies' own. */
const endIn = (host: RealHost, lane: Lane): string => (lane === 'ingress' || lane === 'egress' ? realEnd(host, lane) : 'allow');

const rulesIn = (host: RealHost, lane: Lane): readonly string[] => host[REAL_LANES[lane]]?.rules ?? [];

function otherAddresses(before: RealHost, after: RealHost, lane: Lane, ours: Change | undefined, counts: Counts): readonly string[] {
  const [one, other] = [before, after].map((shot) => realSets(rulesIn(shot, lane), isOfHosts));
  const [comes, goes] = [difference(other ?? [], one ?? []), difference(one ?? [], other ?? [])];
  const [weCome, weGo] = [
    ours?.after.addresses?.flatMap((set) => set.comes) ?? [],
    ours?.after.addresses?.flatMap((set) => set.goes) ?? [],
  ];
  if (comes.length + goes.length > 0) counts.addresses += 1;
  const [there, here] = [`+${listed(comes)} -${listed(goes)}`, `+${listed(weCome)} -${listed(weGo)}`];
  return there === here ? [] : [`${lane} addresses: ${here} here, ${there} there`];
}

/** Where the host itself is meant, only its own addresses count. */
function otherPorts(before: RealHost, after: RealHost, lane: Lane, ours: Change | undefined, counts: Counts): readonly string[] {
  const own = lane === 'ingress' ? /^(?:dst|notDst)/ : lane === 'egress' ? /^(?:src|notSrc)/ : undefined;
  const index = NODES.indexOf(before.node) + 1;
  const isOwn = (member: string) => new RegExp(`^(?:10\\.9\\.[013]\\.|fd09::)${index} `).test(member);
  const ports = (host: RealHost) =>
    realPorts(rulesIn(host, lane), isOfHosts).map(([side, members]) => (own?.test(side) ? members.filter(isOwn) : members));
  const goes = difference(ports(before), ports(after));
  if (goes.length === 0) return [];
  counts.ports += 1;
  return ours?.after.lostPorts ? [] : [`${lane} ports: none lost here, ${listed(goes)} there`];
}

export const listed = (addresses: readonly string[]): string => [...new Set(addresses)].toSorted().join(',');

/** What sets of the one list have that those at the same place in the other lack. */
export function difference(some: readonly (readonly string[])[], others: readonly (readonly string[])[]): readonly string[] {
  return some.flatMap((members, index) => members.filter((member) => !others[index]?.includes(member)));
}
