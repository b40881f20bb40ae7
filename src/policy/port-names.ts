import type { HostEndpoint } from '../core/host-endpoint.ts';
import type { Direction, GlobalPolicy, Rule } from './global-policy.ts';
import { LANES, type Lane, type LanePosture, type Posture } from './posture.ts';

/** Names of ports in one policy's rules of a direction: those of the host itself, and those of whom it talks to. */
interface PortNames {
  readonly own: readonly string[];
  readonly others: readonly string[];
}

/** A policy whose rules use names of ports that endpoints are about to lose. */
export interface PortNameUser {
  readonly policy: string;
  readonly uses: Readonly<Record<Direction, PortNames>>;
}

export function portNamesOf(endpoints: readonly HostEndpoint[]): ReadonlySet<string> {
  return new Set(endpoints.flatMap(({ ports }) => ports.map(({ name }) => name)));
}

/** The policies that use one of these names. */
export function usersOf(names: ReadonlySet<string>, policies: readonly GlobalPolicy[]): readonly PortNameUser[] {
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
  const { ports = [], notPorts = [] } = (entity ?? {}) as { readonly ports?: readonly unknown[]; readonly notPorts?: readonly unknown[] };
  return [...ports, ...notPorts].filter((port) => typeof port === 'string');
}

/**
 * What is in force once the old endpoints are deleted, with the names of ports that its rules use in vain from then on (domain §8.3): agents
 * look a name up among all endpoints that there are, in force or not. `lost`: names of the host itself.
 */
export function withoutPortNames(posture: Posture, users: readonly PortNameUser[], lost: ReadonlySet<string>): Posture {
  if (users.length === 0) return posture;
  return Object.fromEntries(LANES.map((lane) => [lane, laneWithout(lane, posture[lane], users, lost)])) as unknown as Posture;
}

function laneWithout(lane: Lane, before: LanePosture, users: readonly PortNameUser[], lost: ReadonlySet<string>): LanePosture {
  const way = lane.endsWith('egress') ? 'egress' : 'ingress';
  // Through the host, and before addresses are translated, a packet may be for anybody.
  const isForHost = lane === 'ingress' || lane === 'egress';
  const lostPorts = users
    .filter(({ policy }) => before.policies.includes(policy))
    .flatMap(
      ({
        policy,
        uses: {
          [way]: { own, others },
        },
      }) => {
        const names = new Set([...(isForHost ? own.filter((name) => lost.has(name)) : own), ...others]);
        return [...names].map((name) => `${name} of ${policy}`);
      },
    );
  return lostPorts.length === 0 ? before : { ...before, lostPorts };
}
