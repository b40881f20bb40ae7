import type { Profile } from '../../kernel/profile.ts';
import { events, journal, lock, type Needs, type PlanScope, record, session, stateRead } from './needs.ts';
import { distinct, type Permission } from './permission.ts';

/** Of what performs stages that need this. */
export const writing = (stages: readonly Needs[]): readonly Needs[] => [session, lock, record, ...stages, events];

/** Of what only plans them: it writes no journal. */
export const reading = (stages: readonly Needs[]): readonly Needs[] => [session, stateRead, ...stages.filter((one) => one !== journal)];

/** Everything that these ask of the account, each once. */
export function asked(all: readonly Needs[], profile: Profile, scope: PlanScope): readonly Permission[] {
  return distinct(all.flatMap((need) => need(profile, scope)));
}
