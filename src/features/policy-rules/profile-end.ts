import { type Direction, isUnconditional, type Rule } from './ignored-rules.ts';
import type { Labels } from './selector.ts';

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
