import type { AddressChange, SetChange } from './address-changes.ts';
import type { AddressSets } from './address-sets.ts';
import type { Direction } from './ignored-rules.ts';
import { LANES, type Lane, type LanePosture, type Posture } from './posture.ts';

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
    const lane = (one: Lane): LanePosture => {
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
    };
    return Object.fromEntries(LANES.map((one) => [one, lane(one)])) as unknown as Posture;
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
  if (changes.size === 0) return found;
  for (const [policy, { ingress, egress }] of sets) {
    const of = (when: When): ByWay => {
      const way = (some: AddressSets[Direction]): readonly AddressChange[] => {
        const each = new Map<string, AddressChange>();
        for (const { key, shown, port } of some) {
          const change = port && !withPorts ? undefined : changes.get(key)?.[when];
          if (change) each.set(`${key}\n${shown}`, { policy, shown, ...change });
        }
        return [...each.values()];
      };
      return { ingress: way(ingress), egress: way(egress) };
    };
    const both = { atEnable: of('atEnable'), atDelete: of('atDelete') };
    const count = Object.values(both).flatMap(({ ingress: one, egress: other }) => [...one, ...other]).length;
    if (count > 0) found.set(policy, both);
  }
  return found;
}
