import { effective, type HostEndpoint } from '../../src/features/policy-rules/host-endpoint.ts';
import type { FleetVerdicts, Moment } from '../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { type PolicyWorld, policiesInForce } from '../../src/features/policy-rules/posture.ts';
import { LANES, type Lane } from '../../src/features/policy-rules/rules.ts';
import type { ChangeVerdict } from '../../src/features/policy-rules/verdict.ts';
import type { RealHost, RealLane } from './calculation-graph.ts';

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
const isOfHosts = (address: string) => /^(10\.9\.|fd09:)/.test(address);

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

/** Same policies and ends there must be the same here, and other ones other; other members there must be other here. */
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

function expected(before: RealHost, after: RealHost, lane: Lane): ChangeVerdict {
  const isOpen = (host: RealHost) => namesIn(host, lane).length === 0 && endIn(host, lane) === 'allow';
  if (isOpen(after)) return 'OPEN';
  return isOpen(before) ? 'NEWLY POLICED' : 'CHANGED';
}

/** Of other lanes the end is the policies' own. */
const endIn = (host: RealHost, lane: Lane): string => (lane === 'ingress' || lane === 'egress' ? realEnd(host, lane) : 'allow');

const rulesIn = (host: RealHost, lane: Lane): readonly string[] => host[REAL_LANES[lane]]?.rules ?? [];

function otherAddresses(before: RealHost, after: RealHost, lane: Lane, ours: Change | undefined, counts: Counts): readonly string[] {
  const [one, other] = [before, after].map((shot) => realSets(rulesIn(shot, lane)));
  const changes = [...difference(other ?? [], one ?? []), ...difference(one ?? [], other ?? [])];
  if (changes.length === 0) return [];
  counts.addresses += 1;
  return ours?.after.rules ? [] : [`${lane} addresses: the same here, ${listed(changes)} there`];
}

function otherPorts(before: RealHost, after: RealHost, lane: Lane, ours: Change | undefined, counts: Counts): readonly string[] {
  const ports = (host: RealHost) => realPorts(rulesIn(host, lane)).map(([, members]) => members);
  const goes = difference(ports(before), ports(after));
  if (goes.length === 0) return [];
  counts.ports += 1;
  return ours?.after.rules ? [] : [`${lane} ports: none lost here, ${listed(goes)} there`];
}

const listed = (addresses: readonly string[]): string => [...new Set(addresses)].toSorted().join(',');

/** What sets of the one list have that those at the same place in the other lack. */
function difference(some: readonly (readonly string[])[], others: readonly (readonly string[])[]): readonly string[] {
  return some.flatMap((members, index) => members.filter((member) => !others[index]?.includes(member)));
}

/** Policies in force on pods there, in whose rules addresses of hosts change, and which are not said to change here. */
export function otherForPods(
  shots: readonly ReadonlyMap<string, RealHost>[],
  { policies }: FleetVerdicts,
  counts: Counts,
): readonly string[] {
  const told = new Map(policies.map((one) => [one.name, one]));
  const [now = [], ...later] = shots.map((shot) => [...shot.values()]);
  const inForce = new Set(
    now.flatMap(({ workloads = {} }) => Object.values(workloads).flatMap(({ ingress, egress }) => [...ingress.pols, ...egress.pols])),
  );
  return [...inForce].flatMap((lane) => {
    const id = lane.replace(/^[^:]*:/, '');
    const name = id.replace(/^GlobalNetworkPolicy\/\/|^NetworkPolicy\//, '');
    return later.flatMap((hosts, at) => {
      const [before, after] = [now, hosts].map((some) => membersIn(some, id));
      const changes = [...difference(after ?? [], before ?? []), ...difference(before ?? [], after ?? [])];
      if (changes.length === 0) return [];
      counts.pods += 1;
      const here = told.get(name)?.[at === 0 ? 'atEnable' : 'atDelete'] ?? [];
      return here.length > 0 ? [] : [`${id} of pods, ${at === 0 ? 'enable' : 'delete'}: the same here, ${listed(changes)} there`];
    });
  });
}

/** On whichever node it is in force: its sets are the same on each. */
function membersIn(hosts: readonly RealHost[], id: string): readonly (readonly string[])[] {
  const rules = hosts.map(({ policies = {} }) => policies[id]).find((one) => one !== undefined) ?? { in: [], out: [] };
  return [rules.in, rules.out].flatMap((some) => [...realSets(some), ...realPorts(some).map(([, members]) => members)]);
}

/** Members of the sets of each rule that decides, host addresses alone, in the order of the rules. */
function realSets(rules: readonly string[]): readonly (readonly string[])[] {
  return rules.flatMap((rule) => setsOf(rule, /Sets$/).map(([, members]) => members.filter(isOfHosts)));
}

/** The same for names of ports: for each rule and side its members `ADDRESS tcp:80`. */
function realPorts(rules: readonly string[]): readonly (readonly [side: string, members: readonly string[]])[] {
  return rules.flatMap((rule) => {
    const bySide = Map.groupBy(setsOf(rule, /Named$/), ([side]) => side);
    return [...bySide].map(([side, some]) => [side, some.flatMap(([, members]) => members.filter(isOfHosts))] as const);
  });
}

function setsOf(rule: string, key: RegExp): readonly (readonly [side: string, members: readonly string[]])[] {
  const text = / (\{"(?:src|dst|notSrc|notDst)(?:Sets|Named)":.*\})$/.exec(rule)?.[1];
  if (text === undefined || rule.includes('"action":"log"')) return [];
  const sets = JSON.parse(text) as Readonly<Record<string, readonly string[]>>;
  return Object.entries(sets)
    .filter(([side]) => key.test(side))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([side, each]) => each.map((one) => [side, membersOf(one)] as const));
}

/** `{10.0.0.1/32 10.0.0.2,tcp:80}` */
const membersOf = (set: string): readonly string[] =>
  set
    .slice(1, -1)
    .split(' ')
    .map((member) => member.replace(/\/(32|128)$/, '').replace(',', ' '));

const ALLOW = '{"action":"allow"}';
const DENY = '{"action":"deny"}';

/** Where a packet of the host itself ends that no policy decides: `allow`, `deny`, or the rules of its profiles that come before that. */
function realEnd(host: RealHost, way: 'ingress' | 'egress'): string {
  if (host.effective === '') return 'allow';
  if (!mayPassAll(host[way])) return 'deny';
  const decided: string[] = [];
  for (const profile of host.profiles ?? []) {
    const rules = (way === 'ingress' ? / in=(.*) out=/ : / out=(.*)$/).exec(profile)?.[1]?.split('|') ?? [];
    for (const rule of rules.filter((one) => one !== '')) {
      if (rule === ALLOW || rule === DENY) return [...decided, rule === ALLOW ? 'allow' : 'deny'].join(' ');
      decided.push(rule);
    }
  }
  return [...decided, 'deny'].join(' ');
}

/** Whether each tier in force may pass packets on: by a rule, or at its end. */
function mayPassAll({ rules = [] }: RealLane = { pols: [] }): boolean {
  let passes = false;
  for (const rule of rules) {
    const action = /^endtier \S+ (\S*)$/.exec(rule)?.[1];
    passes ||= action === 'Pass' || rule.includes('"action":"next-tier"') || rule.includes('"action":"pass"');
    if (action === undefined) continue;
    if (!passes) return false;
    passes = false;
  }
  return true;
}
