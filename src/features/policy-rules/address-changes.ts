import { firstOf } from '../../kernel/counted.ts';
import { canonicalAddress } from '../../kernel/ip-text.ts';
import type { AddressSet } from './address-sets.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { type Labels, predicateOf, type Selector } from './selector.ts';

/** What a set of a rule gains and loses. */
export interface AddressChange {
  readonly policy: string;
  /** As the rule has it: `source role == 'app'`. */
  readonly shown: string;
  readonly comes: readonly string[];
  readonly goes: readonly string[];
}

/** The endpoints of the whole cluster at three moments: now, once automatic ones are enabled, once the old ones are deleted. */
export interface EndpointsOverTime {
  readonly now: readonly HostEndpoint[];
  readonly enabled: readonly HostEndpoint[];
  readonly end: readonly HostEndpoint[];
}

type Difference = Pick<AddressChange, 'comes' | 'goes'>;

/** Against now; undefined where nothing comes or goes. */
export interface SetChange {
  readonly atEnable: Difference | undefined;
  readonly atDelete: Difference | undefined;
}

const [NOW, ENABLED, END] = [1, 2, 4];
const ALWAYS = NOW | ENABLED | END;

/**
 * When the members of each set change; an address stays while one endpoint gives it. Workloads and network sets are left out, as a
 * migration does not change them: an address that one of them shares is reported as removed although it stays.
 */
export function addressChanges(
  sets: Iterable<AddressSet>,
  endpoints: EndpointsOverTime,
  labelsOf: (endpoint: HostEndpoint) => Labels,
): ReadonlyMap<string, SetChange> {
  const members = membersOf(endpoints, labelsOf).filter(({ addresses }) => addresses.length > 0);
  const [moving, staying] = [members.filter(({ when }) => when !== ALWAYS), members.filter(({ when }) => when === ALWAYS)];
  const keys = new Set(moving.flatMap(({ labels }) => Object.keys(labels)));
  const found = new Map<string, SetChange>();
  const asked = new Set<string>();
  for (const set of sets) {
    if (asked.has(set.key)) continue;
    asked.add(set.key);
    // Mostly a rule is about workloads alone, by a label that no host has.
    if (!neededLabels(set.selector).every((label) => keys.has(label))) continue;
    const change = changeOf(set, moving, staying);
    if (change) found.set(set.key, change);
  }
  return found;
}

type Member = ReturnType<typeof membersOf>[number];

function membersOf({ now, enabled, end }: EndpointsOverTime, labelsOf: (endpoint: HostEndpoint) => Labels) {
  const when = new Map<HostEndpoint, number>();
  for (const [endpoints, moment] of [[now, NOW] as const, [enabled, ENABLED] as const, [end, END] as const]) {
    for (const one of endpoints) when.set(one, (when.get(one) ?? 0) | moment);
  }
  return [...when].map(([endpoint, moments]) => ({
    labels: labelsOf(endpoint),
    addresses: endpoint.expectedIPs.flatMap((text) => canonicalAddress(text) ?? []),
    ports: endpoint.ports,
    when: moments,
  }));
}

function changeOf(set: AddressSet, moving: readonly Member[], staying: readonly Member[]): SetChange | undefined {
  const selects = predicateOf(set.selector);
  const moments = new Map<string, number>();
  for (const member of moving) {
    if (!selects(member.labels)) continue;
    for (const address of contributed(member, set)) moments.set(address, (moments.get(address) ?? 0) | member.when);
  }
  if ([...moments.values()].every((when) => when === ALWAYS)) return undefined;
  for (const member of staying) {
    const own = contributed(member, set).filter((address) => moments.has(address));
    if (own.length > 0 && selects(member.labels)) for (const address of own) moments.set(address, ALWAYS);
  }
  const [atEnable, atDelete] = [differenceOf(moments, ENABLED), differenceOf(moments, END)];
  return atEnable || atDelete ? { atEnable, atDelete } : undefined;
}

function contributed({ addresses, ports }: Member, { port }: AddressSet): readonly string[] {
  if (!port) return addresses;
  const { name, protocol } = port;
  const own = ports.filter((one) => one.name === name && (protocol === undefined || String(one.protocol).toLowerCase() === protocol));
  return own.flatMap((one) => addresses.map((address) => `${address} ${String(one.protocol).toLowerCase()}:${one.port}`));
}

function differenceOf(moments: ReadonlyMap<string, number>, later: number): Difference | undefined {
  const with_ = (has: number, lacks: number) =>
    [...moments].flatMap(([address, when]) => ((when & has) !== 0 && (when & lacks) === 0 ? [address] : [])).toSorted(byNumbers);
  const [comes, goes] = [with_(later, NOW), with_(NOW, later)];
  return comes.length + goes.length === 0 ? undefined : { comes, goes };
}

const byNumbers = new Intl.Collator('en', { numeric: true }).compare;

/** Labels without which the selector selects nothing. */
function neededLabels(selector: Selector): readonly string[] {
  switch (selector.op) {
    case 'and':
      return selector.operands.flatMap(neededLabels);
    case 'all':
    case 'global':
    case 'not':
    case 'or':
    case '!=':
    case 'not in':
      return [];
    default:
      return [selector.label];
  }
}

/** `db, source role == 'app': 192.0.2.10 goes; 10.0.0.1 and 10.0.0.2 come`; with a limit the first addresses only. */
export function addressChangeText({ policy, shown, comes, goes }: AddressChange, limit: number): string {
  const some = (addresses: readonly string[], one: string, many: string) =>
    addresses.length === 0 ? [] : [`${firstOf(addresses, limit)} ${addresses.length === 1 ? one : many}`];
  return `${policy}, ${shown}: ${[...some(goes, 'goes', 'go'), ...some(comes, 'comes', 'come')].join('; ')}`;
}
