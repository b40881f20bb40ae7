import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { refText } from '../../kernel/object.ts';
import { refOf } from '../../kernel/owner-journal.ts';
import { failed, listed, PROGRAM } from '../survey/index.ts';
import { breakingIn, broken, returned } from './broken-references.ts';
import type { OwnerReferences, OwnersCheck, RestoreJudged } from './owner-facts.ts';
import { isApiAway } from './undiscovered.ts';

const NO_CHANGE = 'no UID changes on this way';
/** The chain's stage that removes references. */
const STRIP = 'ownerrefs-strip';

/** A kind that could not be searched may hold breaking references: a user who knows better accepts it by name (§4.8). */
export const ownersSearched: OwnersCheck = {
  id: 'NS-741',
  title: 'owner references searched everywhere',
  category: 'follow-up',
  severity: 'error',
  ref: '§4.8/1',
  judge: ({ references, apiReplaced }, { profile }) => (references ? searched(references, profile, apiReplaced) : notApplicable(NO_CHANGE)),
};

export function searched(
  { unread, kinds }: Pick<OwnerReferences, 'unread' | 'kinds'>,
  { apiGroup }: Pick<Context['profile'], 'apiGroup'>,
  apiReplaced = false,
): Verdict {
  if (unread.length === 0) return ok(`${counted(kinds, 'kind')} searched`);
  const evidence = unread.map(({ kind, because }) => ({ text: kind, detail: because }));
  if (isApiAway(unread, apiGroup)) {
    const because = `the API ${apiGroup} is not available: owner references cannot be searched there`;
    const next = command`kubectl describe apiservice ${`v3.${apiGroup}`}`;
    return apiReplaced
      ? failed(`${because}; this run replaces its server`, 'Continue the run: it waits for the new server.', {
          evidence,
          next: `${PROGRAM} run`,
          expected: true,
        })
      : failed(because, 'Look why its server is not available, and run again. Do not accept this: what is owned there would be lost.', {
          evidence,
          next,
        });
  }
  return failed(
    `owner references of ${counted(unread.length, 'kind')} could not be searched: ${listed(unread.map(({ kind }) => kind))}`,
    'Let this account list them, or repair the API behind them; accept them by name if nothing there can be owned by the service.',
    { evidence, next: `${PROGRAM} ownerrefs list` },
  );
}

export const ownerReferencesChecks: readonly OwnersCheck[] = [
  /** Before the stage that removes them, only a user who wants none removed must decide. */
  {
    id: 'NS-701',
    title: 'no owner references that the upgrade breaks',
    category: 'follow-up',
    severity: 'error',
    ref: '§7/1',
    judge(facts, context) {
      const breaking = breakingIn(facts);
      if (breaking === undefined) return notApplicable(NO_CHANGE);
      if (breaking.length === 0) return ok('no ownerReference points to an object whose UID will change');
      if (context.options.ownerrefs === 'never') return broken(breaking, { ...facts, recorded: [] });
      // Only what this command removed just now, and then watched: what came back before it is removed like the rest.
      const back = context.chain?.again ? returned(breaking, facts.recorded) : [];
      return back.length > 0 ? broken(back, facts) : ok(`${counted(breaking.length, 'reference')} to be removed`);
    },
  },
  /** Applying the manifest again restores the old UID, and garbage collection then deletes the object. */
  {
    id: 'NS-742',
    title: 'applied manifests without old UIDs',
    category: 'follow-up',
    severity: 'warning',
    ref: '§4.8/1',
    judge(facts) {
      const breaking = breakingIn(facts);
      if (breaking === undefined) return notApplicable(NO_CHANGE);
      const still = breaking
        .filter(({ owned, fate }) => owned.appliedOwners?.includes(fate.reference.uid))
        .map(({ owned: { object }, fate: { reference } }) => {
          return {
            text: refText(object),
            object: refOf(object),
            detail: `its manifest names ${reference.kind}/${reference.name} with UID ${reference.uid}`,
          };
        });
      return manifestVerdict([...still, ...(facts.manifests ?? [])]);
    },
  },
];

/** Right before the actions that change UIDs: references that exist now would break (§4.8, §7). */
export const noneBreaks: OwnersCheck = {
  id: 'NS-701',
  title: 'no owner references that the upgrade breaks',
  category: 'follow-up',
  severity: 'error',
  ref: '§7/1',
  judge(facts, { chain, options }) {
    if (chain?.pending.includes(STRIP) && options.ownerrefs !== 'never') return notApplicable('ownerrefs strip comes before');
    const breaking = breakingIn(facts);
    if (breaking === undefined) return notApplicable(NO_CHANGE);
    if (breaking.length === 0) return ok('no ownerReference points to an object whose UID will change');
    return broken(breaking, facts);
  },
};

export function manifestVerdict(evidence: readonly Evidence[]): Verdict {
  if (evidence.length === 0) return ok('no applied manifest names an owner whose UID changes');
  return failed(
    `the manifests of ${counted(evidence.length, 'object')}, as kubectl applied them, name owners by their old UIDs: ${listed(evidence.map(({ text }) => text))}`,
    'Remove metadata.ownerReferences from these manifests. Applied again, they would restore a UID that no longer exists, and garbage collection would delete the objects.',
    { evidence, next: `${PROGRAM} ownerrefs list` },
  );
}

/** NS-741 of the stages after the upgrade. */
export function searchedAgain({ idle, unread }: Pick<RestoreJudged, 'idle' | 'unread'>, { profile }: Context): Verdict {
  return idle ? notApplicable('no reference is recorded as removed') : searched({ unread, kinds: 0 }, profile);
}
