import { reasonOf, type SupportPart } from '../../features/support/index.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { chooseProfile, namedProfile, placeText } from '../choose-profile.ts';
import type { Session } from '../session.ts';

export interface ChosenProfile {
  readonly profile: Profile;
  readonly part: SupportPart;
}

/** The names that the service is looked for by: of the flag, of the run record, or detected. That none fits is no reason to stop. */
export async function profilePart(session: Session, record: RunRecord | undefined): Promise<ChosenProfile> {
  const { composition, context, asked } = session;
  const named = (profile: Profile): ChosenProfile => ({
    profile,
    part: { path: 'profile.yaml', what: `the profile ${profile.name}: the names that the service is looked for by`, content: profile },
  });
  if (asked.flags.profile !== undefined) return named(composition.profile);
  // A run with a profile of its own has its name alone in the record.
  const recorded = record && (await namedProfile(record.profile).catch(() => undefined));
  if (recorded) return named(recorded);
  try {
    return named(await chooseProfile(undefined, composition.cluster, false, placeText(context)));
  } catch (thrown) {
    const { profile } = composition;
    const unread = `${reasonOf(thrown)}; looked for by the names of ${profile.name}`;
    return { profile, part: { path: 'profile.yaml', what: 'the profile', unread } };
  }
}
