import type { AddressChange, SetChange } from './address-changes.ts';
import type { AddressSets } from './address-sets.ts';
import type { GlobalPolicy } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { type LanePosture, onEach, type Posture } from './posture.ts';
import type { Direction, Lane, Rule } from './rules.ts';

/** The moments of the migration against which now is compared. */
export type When = keyof SetChange;

/** Address sets of rules: of global policies and of profiles by their names, of policies of a namespace by `namespace/name`. */
export interface RuleSets {
  readonly global: ReadonlyMap<string, AddressSets>;
  readonly namespaced: ReadonlyMap<string, AddressSets>;
  readonly profiles: ReadonlyMap<string, AddressSets>;
}

export const NO_RULE_SETS: RuleSets = { global: new Map(), namespaced: new Map(), profiles: new Map() };

/** A policy in whose rules an address comes or goes. */
export interface ChangedPolicy {
  readonly name: string;
  readonly atEnable: readonly AddressChange[];
  readonly atDelete: readonly AddressChange[];
}

/** The same posture, with the addresses that come to the rules in force there, or go. */
export type WithAddresses = (posture: Posture, before: Posture, when: When) => Posture;

type ByWay = Readonly<Record<Direction, readonly AddressChange[]>>;
type Changes = ReadonlyMap<string, Readonly<Record<When, ByWay>>>;

/** Policies of both kinds whose rules are about other addresses, by the name of `RuleSets`. */
export function changedPolicies(sets: ReadonlyMap<string, AddressSets>, changes: ReadonlyMap<string, SetChange>): readonly ChangedPolicy[] {
  return [...changesByName(sets, changes, true)].map(([name, { atEnable, atDelete }]) => ({
    name,
    atEnable: [...atEnable.ingress, ...atEnable.egress],
    atDelete: [...atDelete.ingress, ...atDelete.egress],
  }));
}

/** Changed rules of the hosts; a policy new on a host is reported without them. Lanes with the same policies share one list. */
export function withAddresses({ global, profiles }: RuleSets, changes: ReadonlyMap<string, SetChange>): WithAddresses {
  // Names of ports have a finding of their own.
  const [policies, ofProfiles] = [changesByName(global, changes, false), changesByName(profiles, changes, false)];
  if (policies.size + ofProfiles.size === 0) return (posture) => posture;
  const known = new Map<string, readonly AddressChange[]>();
  return (posture, before, when) => {
    return onEach((one) => {
      const [was, is] = [before[one], posture[one]];
      const users = [
        ...namesOf(was, is).flatMap((name) => policies.get(name) ?? []),
        ...profilesOf(was, is).flatMap((name) => ofProfiles.get(name) ?? []),
      ];
      if (users.length === 0) return is;
      const way = one.endsWith('egress') ? 'egress' : 'ingress';
      const all = users.flatMap((user) => user[when][way]);
      if (all.length === 0) return is;
      const key = [when, way, ...namesOf(was, is), '', ...profilesOf(was, is)].join('\n');
      const addresses = known.get(key) ?? all;
      known.set(key, addresses);
      return { ...is, addresses };
    });
  };
}

function namesOf(was: LanePosture, is: LanePosture): readonly string[] {
  if (was.policies === is.policies) return is.policies;
  const before = new Set(was.policies);
  return is.policies.filter((name) => before.has(name));
}

function profilesOf(was: LanePosture, is: LanePosture): readonly string[] {
  if (typeof was.end === 'string' || typeof is.end === 'string') return [];
  const before = new Set(was.end.profiles);
  return is.end.profiles.filter((name) => before.has(name));
}

function changesByName(sets: ReadonlyMap<string, AddressSets>, changes: ReadonlyMap<string, SetChange>, withPorts: boolean): Changes {
  const found = new Map<string, Readonly<Record<When, ByWay>>>();
  for (const [policy, ways] of changes.size > 0 ? sets : []) {
    const of = (when: When, way: Direction): readonly AddressChange[] => {
      const each = new Map<string, AddressChange>();
      for (const { key, shown, port } of ways[way]) {
        const change = port && !withPorts ? undefined : changes.get(key)?.[when];
        if (change) each.set(`${key}\n${shown}`, { policy, shown, ...change });
      }
      return [...each.values()];
    };
    const both = (when: When): ByWay => ({ ingress: of(when, 'ingress'), egress: of(when, 'egress') });
    const [atEnable, atDelete] = [both('atEnable'), both('atDelete')];
    const isChanged = [atEnable, atDelete].some(({ ingress, egress }) => ingress.length + egress.length > 0);
    if (isChanged) found.set(policy, { atEnable, atDelete });
  }
  return found;
}

/** A policy whose rules use names of ports that endpoints are about to lose. */
interface PortNameUser {
  readonly policy: string;
  readonly uses: Readonly<Record<Direction, ReturnType<typeof namesIn>>>;
}

export function portNamesOf(endpoints: readonly HostEndpoint[]): ReadonlySet<string> {
  return new Set(endpoints.flatMap(({ ports }) => ports.map(({ name }) => name)));
}

/** Names of ports in one policy's rules of a direction: those of the host itself, and those of whom it talks to. */
function namesIn(rules: readonly Rule[], way: Direction, among: ReadonlySet<string>) {
  const at = (side: 'source' | 'destination') =>
    [...new Set(rules.flatMap((rule) => portsAt(rule[side])))].filter((name) => among.has(name));
  const [source, destination] = [at('source'), at('destination')];
  return way === 'ingress' ? { own: destination, others: source } : { own: source, others: destination };
}

/** Numbers and ranges are among them; no endpoint's port is named like one. */
function portsAt(entity: unknown): readonly string[] {
  const { ports, notPorts } = (entity ?? {}) as Readonly<Record<'ports' | 'notPorts', readonly unknown[] | null | undefined>>;
  return [...(ports ?? []), ...(notPorts ?? [])].filter((port) => typeof port === 'string');
}

/** What is in force once the old endpoints of a host are deleted; `lost`: names of its own ports. */
export type WithoutPortNames = (posture: Posture, lost: ReadonlySet<string>) => Posture;

/**
 * What is in force on hosts once old endpoints are deleted, with port names that rules then use in vain (domain §8.3); agents look names up
 * among all endpoints. `names`: of all endpoints that are deleted. Thousands of hosts share policies and lost names, so results are cached.
 */
export function withoutPortNames(names: ReadonlySet<string>, policies: readonly GlobalPolicy[]): WithoutPortNames {
  const users = new Map<string, PortNameUser>();
  for (const { name, rules } of names.size > 0 ? policies : []) {
    const uses = { ingress: namesIn(rules.ingress, 'ingress', names), egress: namesIn(rules.egress, 'egress', names) };
    const isUser = [uses.ingress, uses.egress].some(({ own, others }) => own.length + others.length > 0);
    if (isUser) users.set(name, { policy: name, uses });
  }
  if (users.size === 0) return (posture) => posture;
  const known = new Map<string, readonly string[]>();
  return (posture, lost) => {
    // Lanes with the same policies share one list.
    const inForce = new Map<LanePosture['policies'], readonly PortNameUser[]>();
    const own = [...lost].toSorted().join(' ');
    return onEach((one) => {
      const before = posture[one];
      const using = inForce.get(before.policies) ?? before.policies.flatMap((policy) => users.get(policy) ?? []);
      inForce.set(before.policies, using);
      if (using.length === 0) return before;
      const key = [one, own, ...using.map(({ policy }) => policy)].join('\n');
      const lostPorts = known.get(key) ?? lostPortsOf(one, using, lost);
      known.set(key, lostPorts);
      return lostPorts.length === 0 ? before : { ...before, lostPorts };
    });
  };
}

/** `http of hosts` */
function lostPortsOf(lane: Lane, users: readonly PortNameUser[], lost: ReadonlySet<string>): readonly string[] {
  const way = lane.endsWith('egress') ? 'egress' : 'ingress';
  // Through the host, and before addresses are translated, a packet may be for anybody.
  const isForHost = lane === 'ingress' || lane === 'egress';
  return users.flatMap(({ policy, uses }) => {
    const { own, others } = uses[way];
    const names = new Set([...(isForHost ? own.filter((name) => lost.has(name)) : own), ...others]);
    return [...names].map((name) => `${name} of ${policy}`);
  });
}
