import type { KubeObject } from '../../kernel/object.ts';
import type { Labels } from './selector.ts';
import { StoredFault } from './stored-selector.ts';

export type Direction = 'ingress' | 'egress';

/** Ways of a packet for host endpoint policies: to or from the host, through it, before translation, before tracking. */
export const LANES = ['ingress', 'egress', 'forward-ingress', 'forward-egress', 'pre-dnat', 'untracked'] as const;
export type Lane = (typeof LANES)[number];

/** Which lanes something is about, in one number: there are millions of pairs of endpoint and policy. */
export const BITS: Readonly<Record<Lane, number>> = {
  ingress: 1,
  egress: 2,
  'forward-ingress': 4,
  'forward-egress': 8,
  'pre-dnat': 16,
  untracked: 32,
};

/** What a policy does with traffic of a direction. */
export interface Rule {
  readonly action?: string;
  readonly [field: string]: unknown;
}

/** True if the rule decides on every packet that comes to it. */
export function isUnconditional({ action: _, metadata: __, ...conditions }: Rule): boolean {
  return Object.values(conditions).every((value) => isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

const PROTOCOLS = new Set(['tcp', 'udp', 'icmp', 'icmpv6', 'sctp', 'udplite']);
const WITH_PORTS = new Set(['tcp', 'udp', 'sctp', '6', '17', '132']);
const NUMBERS = /^(\d+)(?::(\d+))?$/;
/** Kubernetes' own rule for names of ports. */
const PORT_NAME = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * One invalid rule makes the agents ignore the whole policy; the service's API refuses it, kubectl stores it. Throws Fault `failed` with
 * object and field, as such a policy must not count as in force.
 */
export function assertRulesCount(object: KubeObject, rules: Readonly<Record<Direction, readonly Rule[]>>): void {
  for (const way of ['ingress', 'egress'] as const) {
    for (const [index, rule] of rules[way].entries()) {
      const why = whyIgnored(rule);
      if (why === undefined) continue;
      throw new StoredFault(object, 'rule', `spec.${way}[${index}].${why}; for this rule the agents ignore the whole policy`, [
        'correct the rule, or delete the policy',
      ]);
    }
  }
}

function whyIgnored(rule: Rule): string | undefined {
  const { protocol, notProtocol, ipVersion } = rule;
  for (const [field, value] of Object.entries({ protocol, notProtocol })) {
    if (value !== undefined && value !== null && !isProtocol(value)) return `${field}: ${value} is no protocol`;
  }
  if (ipVersion !== undefined && ipVersion !== null && ipVersion !== 4 && ipVersion !== 6)
    return `ipVersion: ${ipVersion} is neither 4 nor 6`;
  for (const side of ['source', 'destination'] as const) {
    const entity = (rule[side] ?? {}) as Readonly<Record<'ports' | 'notPorts', readonly unknown[] | null | undefined>>;
    for (const field of ['ports', 'notPorts'] as const) {
      const why = (entity[field] ?? []).map((port) => whyNoPort(String(port), protocol)).find((one) => one !== undefined);
      if (why !== undefined) return `${side}.${field}: ${why}`;
    }
  }
  return undefined;
}

function isProtocol(value: unknown): boolean {
  const text = String(value).toLowerCase();
  return /^\d+$/.test(text) ? Number(text) >= 1 && Number(text) <= 255 : PROTOCOLS.has(text);
}

function whyNoPort(port: string, protocol: unknown): string | undefined {
  const numbers = NUMBERS.exec(port);
  if (!numbers && !PORT_NAME.test(port)) return `${port} is no name of a port`;
  if (protocol === undefined || protocol === null) {
    return numbers ? `${port} needs a protocol that has ports (TCP, UDP or SCTP)` : undefined;
  }
  if (!WITH_PORTS.has(String(protocol).toLowerCase())) return `${port} is given, and ${protocol} has no ports`;
  const [low, high] = numbers ? [Number(numbers[1]), Number(numbers[2] ?? numbers[1])] : [1, 1];
  return low >= 1 && low <= high && high <= 65_535 ? undefined : `${port} is no port or range of ports`;
}

export interface EndpointProfile {
  readonly labels: Labels;
  readonly rules: Readonly<Record<Direction, readonly Rule[]>>;
}

export interface ProfileWorld {
  /** Rules of profiles, and the labels that they give. */
  readonly profiles: ReadonlyMap<string, EndpointProfile>;
  /** Name of the profile that lets everything through. */
  readonly allowAllProfile: string;
}

/** Where a packet ends that no policy decides: let through, dropped, or left to the rules of these profiles. */
export type PacketEnd = 'allow' | 'deny' | { readonly profiles: readonly string[] };

const ALLOW: readonly Rule[] = [{ action: 'Allow' }];
const DENY: readonly Rule[] = [{ action: 'Deny' }];

/** Rules of a profile that an endpoint names. Where it does not exist, the agents drop everything in its place. */
export function profileRules(name: string, way: Direction, world: ProfileWorld): readonly Rule[] {
  return name === world.allowAllProfile ? ALLOW : (world.profiles.get(name)?.rules[way] ?? DENY);
}

/** Where a packet ends that only the profiles evaluate, in their order. After one that allows or drops everything no other counts. */
export function profilesEnd(profiles: readonly string[], way: Direction, world: ProfileWorld): PacketEnd {
  const decisive: string[] = [];
  for (const name of profiles) {
    const [first] = profileRules(name, way, world);
    const action = first && isUnconditional(first) ? first.action?.toLowerCase() : undefined;
    if (action === 'deny') break;
    if (action === 'allow' && decisive.length === 0) return 'allow';
    if (first) decisive.push(name);
    if (action === 'allow') break;
  }
  return decisive.length === 0 ? 'deny' : { profiles: decisive };
}
