import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { runIdOf } from '../../kernel/run-record.ts';
import { stage } from '../../kernel/stage.ts';
import { forgetChecks, onlyStaysOff } from './owner-restore-checks.ts';
import { type RestoreFacts, readRestoreFacts } from './restore-facts.ts';
import type { UpgradeWaits } from './restore-ready.ts';

interface ForgetFacts extends RestoreFacts {
  /** An earlier run was interrupted while it deleted the journal. */
  readonly leftOver: boolean;
}

/** Ends the journal once nothing is left to put back: archived on this machine, then deleted from the cluster (§4.8/3). */
export const forgetStage = (upgradeWaits: UpgradeWaits) =>
  stage<ForgetFacts>({
    id: 'ownerrefs-forget',
    title: 'Archive and delete the journal of owner references',
    ref: '§4.8/3',
    readOnly: false,
    checks: forgetChecks,
    async survey(sources, context) {
      const facts = await readRestoreFacts(sources, context, upgradeWaits);
      return { ...facts, leftOver: facts.journal === undefined && (await sources.ownerJournal.leftOver()) };
    },
    plan(facts, context) {
      // A missing journal cannot be archived: the user gives it up, and the record no longer requires it.
      if (facts.lacking && isGivenUp(context, 'NS-753')) return { actions: [forget(context)] };
      if (facts.skip !== undefined && !facts.leftOver) return { skip: facts.skip };
      // Where the upgrade never comes, nothing else ends it.
      if (isGivenUp(context, 'NS-748')) return { actions: [forget(context)] };
      if (!facts.isLater && facts.waits.length > 0) return { skip: 'the upgrade is not over: the journal is kept' };
      if (onlyStaysOff(facts)) return { skip: LEFT_OFF };
      if (facts.outstanding > 0 || facts.dangling.length > 0) return { skip: 'references are not back yet: the journal is kept' };
      if (facts.unreadRecorded.length > 0) return { skip: `${facts.unreadRecorded.join(', ')} could not be read: the journal is kept` };
      return { actions: [forget(context)] };
    },
  });

const LEFT_OFF =
  'what restore leaves off is known to the journal alone: it is kept until that is fixed, or given up with ownerrefs forget --accept NS-748';

/** `ownerrefs forget --accept NS-748`: the user knows that the rest cannot come back; the archive keeps it. */
function isGivenUp({ options }: Context, id: string): boolean {
  return options.forgetOwners === true && options.accept.some(({ check, subject }) => check === id && subject === undefined);
}

function forget(context: Context): Action {
  const title = 'archive the journal of owner references, and delete it';
  return { id: 'forget', title, ref: '§4.8/3', undo: 'full', effect: { type: 'forget-owners', file: archiveOf(context) } };
}

function archiveOf({ workFolder, startedAt, clusterUid }: Context): string {
  return `${workFolder}/owner-references-${runIdOf(startedAt, clusterUid)}.json`;
}
