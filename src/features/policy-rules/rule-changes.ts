import { canonicalAddress } from '../../kernel/ip-text.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { type LanePosture, onEach, type Posture } from './posture.ts';
import type { RuleSide, RuleSides, SideChange } from './rule-sides.ts';
import type { Direction } from './rules.ts';
import { type Labels, mayMatch, predicateOf } from './selector.ts';

/** Endpoints of a node, or all of hosts outside the cluster: now, once automatic ones are enabled, once the old ones are deleted. */
export interface EndpointsOverTime {
  readonly now: readonly HostEndpoint[];
  readonly enabled: readonly HostEndpoint[];
  readonly end: readonly HostEndpoint[];
}

/** Against now. */
const MOMENTS = { atEnable: 'enabled', atDelete: 'end' } as const;
export type When = keyof typeof MOMENTS;

/** A policy of which rules select otherwise; one of a namespace is named `namespace/name`. */
export interface ChangedPolicy extends Readonly<Record<When, readonly SideChange[]>> {
  readonly name: string;
}

/** Of global policies and of profiles by their names, of policies of a namespace by `namespace/name`. */
export type RuleSets = Readonly<Record<'global' | 'namespaced' | 'profiles', ReadonlyMap<string, RuleSides>>>;

export const NO_RULES: RuleSets = { global: new Map(), namespaced: new Map(), profiles: new Map() };

export interface RuleChanges {
  readonly policies: readonly ChangedPolicy[];
  /** The posture of a host with the changed rules in force there, before and after: a policy new on it is reported without them. */
  readonly withRules: (posture: Posture, before: Posture, when: When) => Posture;
}

/** Which rules select otherwise once endpoints come and go: a node's old ones and its automatic one are compared rule by rule. */
export function ruleChanges(rules: RuleSets, places: readonly EndpointsOverTime[], labelsOf: (one: HostEndpoint) => Labels): RuleChanges {
  const moved = places.map((place) => membersOf(place, labelsOf)).filter((members) => members.some(isMoved));
  const differences = differencesOf(rules, moved);
  const [global, namespaced, profiles] = [rules.global, rules.namespaced, rules.profiles].map((sets) => changedIn(sets, differences));
  const policies = [...(global ?? []), ...(namespaced ?? [])].map(([name, ways]) => ({
    name,
    ...onBoth((when) => [...ways[when].ingress, ...ways[when].egress]),
  }));
  return { policies, withRules: withRulesOf(global ?? new Map(), profiles ?? new Map()) };
}

/** What a rule knows of an endpoint. */
interface Member {
  readonly name: string;
  readonly labels: Labels;
  readonly addresses: readonly string[];
  readonly ports: readonly string[];
  /** When it is there. */
  readonly at: Readonly<Record<Moment, boolean>>;
}

type Moment = keyof EndpointsOverTime;

const isMoved = ({ at }: Member): boolean => !(at.now && at.enabled && at.end);

function membersOf({ now, enabled, end }: EndpointsOverTime, labelsOf: (one: HostEndpoint) => Labels): readonly Member[] {
  return [...new Set([...now, ...enabled, ...end])].map((one) => ({
    name: one.name,
    labels: labelsOf(one),
    addresses: one.expectedIPs.map((text) => canonicalAddress(text) ?? text),
    ports: one.ports.map(({ name }) => name),
    at: { now: now.includes(one), enabled: enabled.includes(one), end: end.includes(one) },
  }));
}

type Difference = Pick<SideChange, 'comes' | 'goes'>;
type Differences = Readonly<Record<When, Difference | undefined>>;

const onBoth = <T>(of: (when: When) => T): Readonly<Record<When, T>> => ({ atEnable: of('atEnable'), atDelete: of('atDelete') });

/** By the key of a side; an address counts as gone though an endpoint of another node has it too. */
function differencesOf(
  { global, namespaced, profiles }: RuleSets,
  places: readonly (readonly Member[])[],
): ReadonlyMap<string, Differences> {
  const found = new Map<string, Differences>();
  if (places.length === 0) return found;
  const keys = new Set(places.flat().flatMap(({ labels }) => Object.keys(labels)));
  const all = [global, namespaced, profiles].flatMap((sets) =>
    [...sets.values()].flatMap(({ ingress, egress }) => [...ingress, ...egress]),
  );
  for (const [key, side] of new Map(all.map((one) => [one.key, one]))) {
    // Mostly a rule is about workloads alone, by a label that no host has.
    if ('selector' in side && !mayMatch(side.selector, {}, (label) => keys.has(label))) continue;
    const isSelected = selectedBy(side);
    const selected = places.filter((members) => members.some(isSelected)).map((members) => members.filter(isSelected));
    const said = (one: Member) => ('port' in side ? [one.name] : one.addresses);
    const change = onBoth((when) => differenceOf(selected, said, MOMENTS[when]));
    if (change.atEnable || change.atDelete) found.set(key, change);
  }
  return found;
}

function selectedBy(side: RuleSide): (one: Member) => boolean {
  if ('port' in side) return ({ ports }) => ports.includes(side.port);
  const selects = predicateOf(side.selector);
  return ({ labels }) => selects(labels);
}

function differenceOf(
  places: readonly (readonly Member[])[],
  said: (one: Member) => readonly string[],
  later: Moment,
): Difference | undefined {
  const [comes, goes] = [new Set<string>(), new Set<string>()];
  for (const members of places) {
    const [was, is] = (['now', later] as const).map((moment) => new Set(members.filter(({ at }) => at[moment]).flatMap(said)));
    for (const one of is ?? []) if (!was?.has(one)) comes.add(one);
    for (const one of was ?? []) if (!is?.has(one)) goes.add(one);
  }
  return comes.size + goes.size === 0 ? undefined : { comes: [...comes].toSorted(byNumbers), goes: [...goes].toSorted(byNumbers) };
}

const byNumbers = new Intl.Collator('en', { numeric: true }).compare;

type ByWay = Readonly<Record<Direction, readonly SideChange[]>>;
type Changed = ReadonlyMap<string, Readonly<Record<When, ByWay>>>;

function changedIn(sets: ReadonlyMap<string, RuleSides>, differences: ReadonlyMap<string, Differences>): Changed {
  const found = new Map<string, Readonly<Record<When, ByWay>>>();
  for (const [policy, ways] of differences.size > 0 ? sets : []) {
    const of = (when: When, way: Direction) => {
      const each = ways[way].flatMap(({ key, shown }): readonly [string, SideChange][] => {
        const change = differences.get(key)?.[when];
        return change ? [[`${key}\n${shown}`, { policy, shown, ...change }]] : [];
      });
      return [...new Map(each).values()];
    };
    const changes = onBoth((when) => ({ ingress: of(when, 'ingress'), egress: of(when, 'egress') }));
    if (Object.values(changes).some(({ ingress, egress }) => ingress.length + egress.length > 0)) found.set(policy, changes);
  }
  return found;
}

/** Lanes with the same policies share one list: thousands of hosts have them. */
function withRulesOf(policies: Changed, profiles: Changed): RuleChanges['withRules'] {
  if (policies.size + profiles.size === 0) return (posture) => posture;
  const known = new Map<string, readonly SideChange[]>();
  return (posture, before, when) =>
    onEach((lane) => {
      const [was, is] = [before[lane], posture[lane]];
      const way = lane.endsWith('egress') ? 'egress' : 'ingress';
      const all = [
        ...inBoth(was.policies, is.policies).flatMap((name) => policies.get(name)?.[when][way] ?? []),
        ...inBoth(profilesOf(was), profilesOf(is)).flatMap((name) => profiles.get(name)?.[when][way] ?? []),
      ];
      if (all.length === 0) return is;
      const key = [when, ...all.map(({ policy, shown }) => `${policy} ${shown}`)].join('\n');
      const rules = known.get(key) ?? all;
      known.set(key, rules);
      return { ...is, rules };
    });
}

const profilesOf = ({ end }: LanePosture): readonly string[] => (typeof end === 'string' ? [] : end.profiles);

function inBoth(before: readonly string[], after: readonly string[]): readonly string[] {
  if (before === after) return after;
  const known = new Set(before);
  return after.filter((name) => known.has(name));
}
