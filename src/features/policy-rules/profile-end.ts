import { type Direction, isUnconditional, type Rule } from './global-policy.ts';
import type { LanePosture, PolicyWorld } from './posture.ts';

const ALLOW: readonly Rule[] = [{ action: 'Allow' }];
const DENY: readonly Rule[] = [{ action: 'Deny' }];

/** Rules of a profile that an endpoint names. Where it does not exist, the agents drop everything in its place. */
export function profileRules(name: string, way: Direction, world: Pick<PolicyWorld, 'profiles' | 'allowAllProfile'>): readonly Rule[] {
  return name === world.allowAllProfile ? ALLOW : (world.profiles.get(name)?.rules[way] ?? DENY);
}

/** Where a packet ends that only the profiles evaluate, in their order. After one that allows or drops everything no other counts. */
export function profilesEnd(
  profiles: readonly string[],
  way: Direction,
  world: Pick<PolicyWorld, 'profiles' | 'allowAllProfile'>,
): LanePosture['end'] {
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
