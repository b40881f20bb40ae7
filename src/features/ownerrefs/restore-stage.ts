import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { acceptsWhole } from '../../kernel/judge.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { type StagePlan, stage } from '../../kernel/stage.ts';
import { needs } from '../rights/index.ts';
import { archiveOf } from './effects.ts';
import { forgetChecks, onlyStaysOff, restoreChecks } from './owner-restore-checks.ts';
import { type RestoreFacts, readRestoreFacts } from './restore-facts.ts';
import type { Awaited, UpgradeWaits } from './restore-ready.ts';
import { JUDGED_ONCE_MORE_MS } from './survey.ts';

/** The stage that removes them. */
const STRIP = 'ownerrefs-strip';

const RESTORE = {
  id: 'ownerrefs-restore',
  title: 'Put owner references back with the new UIDs',
  ref: '§4.8/3',
  readOnly: false,
  needs: [
    needs.detection,
    needs.storedResources,
    needs.ownerSearch,
    needs.ownerReferences,
    needs.chartRead,
    needs.operatorEnd,
    needs.journal,
  ],
  traffic: 'untouched',
  putsBack: STRIP,
  checks: restoreChecks,
} as const;

/** Puts the recorded owner references back with the UIDs that their owners have now, at their old places (§4.8/3). */
export const restoreStage = (upgradeWaits: UpgradeWaits) =>
  stage<RestoreFacts>({
    ...RESTORE,
    survey: (sources, context) => readRestoreFacts(sources, context, upgradeWaits),
    plan: planned,
  });

/** The undo of the removal, before the upgrade: each owner has the UID that it had. */
export const putBackStage = stage<RestoreFacts>({
  ...RESTORE,
  survey: (sources, context) => readRestoreFacts(sources, context),
  plan(facts) {
    const plan = planned(facts);
    return 'objects' in plan ? { ...plan, notes: [ENDS] } : plan;
  },
});

function planned(facts: RestoreFacts): StagePlan {
  if (facts.skip !== undefined) return { skip: facts.skip };
  if (facts.isLater) return { actions: [restore(facts)] };
  if (facts.waits.length > 0) return { actions: facts.waits.map((one) => waitFor(one, facts.waitMs)), again: true };
  const { patches, noted } = facts;
  if (patches.length + noted.length === 0) return { skip: 'every recorded reference is back, or named as not restored' };
  return { actions: [...(patches.length > 0 ? [restore(facts)] : []), ...note(noted)], objects: patches.map(plannedOf) };
}

const ENDS = 'the upgrade called off, the journal is needed no more: end it with ownerrefs forget';

function waitFor({ until, title }: Awaited, timeoutMs: number): Action {
  return { id: `wait-${until.type}`, title, ref: '§4.8/3', undo: 'full', effect: { type: 'wait', until, timeoutMs } };
}

function restore({ patches, settled, isLater, journal }: RestoreFacts): Action {
  const count = isLater ? (journal?.entries.length ?? 0) : patches.length;
  const objects = `${count} ${count === 1 ? 'object' : 'objects'}`;
  return {
    id: 'restore',
    title: isLater ? `put back what is off of the owner references of ${objects}` : `put owner references of ${objects} back`,
    ref: '§4.8/3',
    undo: 'full',
    effect: { type: 'patch-all', what: 'owner references put back', patches, ...(settled ? { onlyIf: settled } : {}) },
    judgedWithinMs: JUDGED_ONCE_MORE_MS,
  };
}

/** After the patches, which have all succeeded: what is removed from now on stays removed. */
function note(entries: RestoreFacts['noted']): readonly Action[] {
  if (entries.length === 0) return [];
  const title = `note in the journal that the owner references of ${counted(entries.length, 'object')} are back`;
  return [{ id: 'note', title, ref: '§4.8/3', undo: 'full', effect: { type: 'record-owners', entries, isNote: true } }];
}

function plannedOf({ target, patch }: RestoreFacts['patches'][number]): PlannedObject {
  const fields = patch
    .filter(({ op, value }) => op === 'add' && !Array.isArray(value))
    .map(({ path, value }) => ({ path: path.slice(1).replaceAll('/', '.'), after: value }));
  const { apiVersion, kind, name, namespace, uid } = target;
  const ref = { apiVersion, kind, name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
  return { ref, change: 'update', fields, hidden: [], taken: [] };
}

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
    needs: [needs.detection, needs.ownerSearch, needs.journal],
    traffic: 'untouched',
    putsBack: STRIP,
    checks: forgetChecks,
    async survey(sources, context) {
      const facts = await readRestoreFacts(sources, context, upgradeWaits);
      return { ...facts, leftOver: facts.journal === undefined && (await sources.journal.leftOver()) };
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
  return options.forgetOwners === true && acceptsWhole(options, id);
}

function forget(context: Context): Action {
  const title = 'archive the journal of owner references, and delete it';
  return { id: 'forget', title, ref: '§4.8/3', undo: 'full', effect: { type: 'forget-owners', file: archiveOf(context) } };
}
