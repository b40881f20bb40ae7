import type { GlobalPolicy } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import type { Direction, Rule } from './ignored-rules.ts';
import { LANES, type Lane, type LanePosture, type Posture } from './posture.ts';

/** Names of ports in one policy's rules of a direction: those of the host itself, and those of whom it talks to. */
interface PortNames {
  readonly own: readonly string[];
  readonly others: readonly string[];
}

/** A policy whose rules use names of ports that endpoints are about to lose. */
interface PortNameUser {
  readonly policy: string;
  readonly uses: Readonly<Record<Direction, PortNames>>;
}

export function portNamesOf(endpoints: readonly HostEndpoint[]): ReadonlySet<string> {
  return new Set(endpoints.flatMap(({ ports }) => ports.map(({ name }) => name)));
}

/** The policies that use one of these names. */
function usersOf(names: ReadonlySet<string>, policies: readonly GlobalPolicy[]): readonly PortNameUser[] {
  if (names.size === 0) return [];
  return policies
    .map(({ name, rules }) => ({
      policy: name,
      uses: { ingress: namesIn(rules.ingress, 'ingress', names), egress: namesIn(rules.egress, 'egress', names) },
    }))
    .filter(({ uses: { ingress, egress } }) => [ingress, egress].some(({ own, others }) => own.length + others.length > 0));
}

function namesIn(rules: readonly Rule[], way: Direction, among: ReadonlySet<string>): PortNames {
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
  const users = new Map(usersOf(names, policies).map((user) => [user.policy, user]));
  if (users.size === 0) return (posture) => posture;
  const known = new Map<string, readonly string[]>();
  return (posture, lost) => {
    // Lanes with the same policies share one list.
    const inForce = new Map<LanePosture['policies'], readonly PortNameUser[]>();
    const own = [...lost].toSorted().join(' ');
    const lane = (one: Lane): LanePosture => {
      const before = posture[one];
      const using = inForce.get(before.policies) ?? before.policies.flatMap((policy) => users.get(policy) ?? []);
      inForce.set(before.policies, using);
      if (using.length === 0) return before;
      const key = [one, own, ...using.map(({ policy }) => policy)].join('\n');
      const lostPorts = known.get(key) ?? lostPortsOf(one, using, lost);
      known.set(key, lostPorts);
      return lostPorts.length === 0 ? before : { ...before, lostPorts };
    };
    return Object.fromEntries(LANES.map((one) => [one, lane(one)])) as unknown as Posture;
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
