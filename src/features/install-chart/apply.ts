import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { isCustom } from '../../kernel/object.ts';
import type { PlannedRestart } from '../../kernel/plan.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { tablesNotes } from '../going-back/index.ts';
import { applyCrds, leftBehind, NO_ORPHANS, type Orphans, readOrphans } from '../install-manifest/index.ts';
import {
  type AgentsHold,
  afterAgents,
  atPace,
  type HeldWait,
  type HoldFacts,
  holdNote,
  holdWorkloads,
  isOwnPace,
  keepBeforeOperator,
  keptNow,
  noReturnOf,
  noSwitchYet,
  onlyHeld,
  type PaceFacts,
  paceNotes,
  readAgentsHold,
  readConsoleNotes,
  readHealth,
  readHeldWait,
  readHold,
  readPace,
  readRestarts,
  releaseAgents,
  releasesHeld,
  restartNotes,
  returnOwnPace,
  type StatusFacts,
  setPace,
  statusesGoodNow,
  typhaOrderTaken,
  withoutHeld,
  withoutOwnPace,
} from '../install-operator/index.ts';
import { noneLeft, type OwnersJudged, ownersSearched, readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { holdNotes, holdOrRelease, type RenamingSwitch, readRenamingSwitch } from '../policies/index.ts';
import { pathPart, sourceChecks } from '../survey/index.ts';
import { type ChartFacts, takeoverAction } from './chart-facts.ts';
import { chartChecks } from './chart-place.ts';
import { chartFile } from './chart-target.ts';
import { leavesCrds } from './crds.ts';
import { type HelmUpgrade, helmInstall, helmUpgrade } from './helm-argv.ts';
import { recordedObjects } from './helm-record.ts';
import { adoptAction, dropActions } from './move.ts';
import { chartOperatorImage } from './operator-image.ts';
import { type ChartDifference, chartDifference } from './rendered.ts';
import { readChartFacts } from './survey.ts';

type ChartApplyFacts = ChartFacts &
  OwnersJudged & {
    readonly renamingSwitch: RenamingSwitch | undefined;
    /** What the new operator will restart. */
    readonly restarts: readonly PlannedRestart[];
    /** CRDs of removed kinds: the chart tool deletes what else the chart no longer has. */
    readonly orphans: Orphans;
    readonly console: readonly string[];
    readonly hold: HoldFacts | undefined;
    readonly heldWait: HeldWait | undefined;
    readonly pace: PaceFacts | undefined;
    /** What a rollback that was not finished still holds. */
    readonly agents: AgentsHold | undefined;
    readonly health: StatusFacts | undefined;
  };

/** The release of the operator's chart, upgraded by the chart tool (§4.2/2); CRDs that are still missing come right before it. */
export const chartApply = pathPart<ChartApplyFacts>({
  // The operator that this starts changes UIDs: the cluster is searched again right before.
  checks: [...sourceChecks, ...chartChecks, typhaOrderTaken, keptNow, statusesGoodNow, ownersSearched, noneLeft],
  async survey(sources, context, installation) {
    const record = await sources.records.load();
    const [facts, renamingSwitch, owners, restarts, console, hold, health, agents, pace] = await Promise.all([
      // What is performed is tried against the cluster as it is right before.
      readChartFacts(sources, context, installation, context.chain?.onlyPlanned === true ? 'earlier' : 'anew'),
      readRenamingSwitch(sources, context, record),
      readOwnersAtDeadline(sources, context, installation),
      readRestarts(sources.cluster, context),
      readConsoleNotes(sources.cluster, context),
      readHold(sources, context, installation, record),
      readHealth(sources, context, installation),
      readAgentsHold(sources, context, installation, record),
      readPace(sources, context, installation),
    ]);
    const imageOf = () => chartOperatorImage(sources, context, installation);
    const heldWait = await readHeldWait(sources, context, installation, { hold, pace, imageOf });
    const orphans = facts.crds ? await readOrphans(sources.cluster, context, facts.crds.crds.manifest) : NO_ORPHANS;
    const { conflicts } = facts;
    const decided =
      conflicts && 'value' in conflicts
        ? { value: conflicts.value.filter(({ ref, change }) => !isOwnPace(pace, ref, change.path)) }
        : conflicts;
    const found = {
      renamingSwitch,
      restarts: withoutHeld(atPace(restarts, pace, context), hold),
      orphans,
      console,
      hold,
      heldWait,
      pace,
      agents,
      health,
    };
    return { ...facts, conflicts: decided, ...found, ...owners };
  },
  plan: planChart,
});

function planChart(facts: ChartApplyFacts, context: Context): StagePlan {
  const crds = facts.crds ? applyCrds(facts.crds, '§4.2/1', context, facts.installation) : [];
  const name = releaseText(facts.installation);
  if (!facts.upgraded && hasNoWay(facts)) return noWay(name, context);
  // The chart has the Installation as well, and what is ours there is nothing that helm has to know.
  const returned = facts.upgraded ? [] : returnOwnPace(facts.pace);
  const pace = returned.length > 0 ? withoutOwnPace(facts.pace) : facts.pace;
  const actions = [
    ...crds,
    ...holdActions(facts, context),
    ...returned,
    ...(facts.upgraded ? [] : keepBeforeOperator(context, facts.installation.nodes ?? facts.heldWait?.nodes ?? 1)),
    ...holdWorkloads(facts.hold, !facts.upgraded),
    ...(facts.upgraded ? [] : upgradeActions(name, facts, context)),
    ...setPace(pace, !facts.upgraded),
    ...releaseAgents(facts.agents),
    ...afterAgents({ hold: facts.hold, pace }, !facts.upgraded, facts.heldWait, context),
    // Planned again once the release is deployed in its new namespace, and performed only then.
    ...(facts.upgraded && context.options.moveRelease ? dropActions(facts.oldRecords) : []),
  ];
  if (actions.length === 0) return { skip: `${name} is at ${context.goal.release}, with your values` };
  const difference = differenceOf(facts);
  return {
    actions,
    objects: [
      // What the stage before will do is listed there.
      ...(crds.length > 0 && !context.chain?.pending.includes('crds') ? (facts.crds?.previews.map(({ planned }) => planned) ?? []) : []),
      ...(difference?.objects ?? []),
      ...leftBehind(facts.orphans),
    ],
    notes: [
      ...notesOf(facts, difference),
      ...holdNotes(context),
      ...paceNotes(pace, !facts.upgraded),
      ...latePace(pace, !facts.upgraded),
      ...(facts.upgraded ? [] : [...tablesNotes(noReturnOf(facts, context), context.options), ...facts.console]),
    ],
    ...restartsOf(facts),
    remember: {
      digests: { ...(facts.crds ? { [facts.crds.crds.file]: facts.crds.crds.sha256 } : {}), ...chartDigest(facts) },
      ...(facts.upgrade?.moves && 'value' in facts.stored ? { moved: facts.stored.value.uids } : {}),
    },
  };
}

/** helm would write over it. */
function latePace(pace: PaceFacts | undefined, starts: boolean): readonly string[] {
  if (!starts || setPace(pace, starts).length === 0) return [];
  return ['it is set once helm has started the new operator: the first agents may be replaced at the former pace'];
}

const restartsOf = ({ upgraded, hold, restarts }: ChartApplyFacts): { readonly restarts?: readonly PlannedRestart[] } =>
  upgraded && !releasesHeld(hold) ? {} : { restarts };

function chartDigest({ target }: ChartFacts): Readonly<Record<string, string>> {
  if ('unread' in target || target.value.sha256 === undefined) return {};
  return { [chartFile(target.value)]: target.value.sha256 };
}

/** The new CRDs have the switch; the operator of the upgrade starts the controllers that read it. */
function holdActions({ renamingSwitch, upgraded, installation }: ChartApplyFacts, context: Context): readonly Action[] {
  const hold = holdOrRelease(renamingSwitch, context);
  if (hold.length === 0 || upgraded || !leavesCrds(context, installation)) return hold;
  if (!context.options.manageCrds) throw noSwitchYet();
  throw new Fault(
    'usage',
    '--until controllers cannot be kept with --manage-crds: the installed CRDs drop the switch, and only the new operator installs those that know it',
    ['leave out --manage-crds: the new CRDs are applied first then', 'or leave out --until controllers'],
  );
}

/** An interrupted helm is cleared first. During a move nothing is upgraded then: it is planned again from the old record. */
function upgradeActions(name: string, facts: ChartApplyFacts, context: Context): readonly Action[] {
  const { takeover, stored, adoption, upgrade } = facts;
  const cleared = takeover ? [takeoverAction(takeover)] : [];
  if (takeover && 'value' in stored && stored.value.record.status === 'pending-install') return cleared;
  // A release that is moved is installed over its own objects: first they are annotated for its new namespace.
  const adopted = upgrade?.moves ? adoptAction(adoption, upgrade.namespace) : [];
  return [...cleared, ...adopted, onlyHeld(upgradeAction(name, facts, context), facts.hold)];
}

/** Findings that leave nothing to do, so accepting them does not help. */
const NO_WAY: readonly string[] = ['NS-231', 'NS-234', 'NS-235', 'NS-236', 'NS-243', 'NS-244'];

function hasNoWay({ upgrade, lostCrds, lostData, misplaced }: ChartFacts): boolean {
  const deletes = lostCrds.length > 0 || 'unread' in lostData || lostData.value.length > 0;
  return upgrade === undefined || deletes || (misplaced !== undefined && !upgrade.moves);
}

function noWay(name: string, { options }: Context): StagePlan {
  const because = `${name} cannot be upgraded: see ${NO_WAY.join(', ')}`;
  const accepted = options.accept.find(({ check }) => NO_WAY.includes(check));
  if (accepted) throw new Fault('blocked', because, [`leave --accept ${accepted.check} out and fix the cause`]);
  return { skip: because };
}

function upgradeAction(name: string, facts: ChartApplyFacts, context: Context): Action {
  const { upgrade } = facts;
  const title = upgrade?.moves ? `install ${upgrade.namespace}/${upgrade.name} over it, at` : `upgrade ${name} to`;
  const run = agreed(facts);
  const pointOfNoReturn = noReturnOf(facts, context);
  return {
    id: 'chart',
    title: `${title} ${context.goal.release}`,
    ref: '§4.2/2',
    ...(pointOfNoReturn === undefined ? { undo: 'partial' } : { undo: 'none', pointOfNoReturn }),
    afresh: true,
    effect: { type: 'exec', run: run.moves ? helmInstall(run) : helmUpgrade(run) },
  };
}

/** Fields of others are taken only if accepted. A client-side helm overwrites them anyway, and refuses the flag. */
function agreed({ upgrade, conflicts, stored }: ChartFacts): HelmUpgrade {
  if (!upgrade) throw new Fault('blocked', 'the chart release, its chart or helm could not be read', ['see NS-231, NS-234 and NS-235']);
  const found = conflicts !== undefined && 'value' in conflicts && conflicts.value.some(({ manager }) => manager !== undefined);
  const onServer = 'value' in stored && stored.value.record.applyMethod === 'server-side';
  return { ...upgrade, takeFields: found && onServer && upgrade.helm.major >= 4 };
}

function differenceOf({ stored, trial, conflicts, upgrade }: ChartFacts): ChartDifference | undefined {
  if ('unread' in stored || 'unread' in trial || trial.value.type !== 'accepted') return undefined;
  const before = recordedObjects(stored.value.base);
  const taken = conflicts && 'value' in conflicts ? conflicts.value : [];
  if (!upgrade?.moves) return chartDifference(before, trial.value.documents, taken);
  const stays = trial.value.documents.filter(({ apiVersion }) => isCustom(apiVersion));
  return { ...chartDifference([...before, ...stays], trial.value.documents, taken), removed: [] };
}

function notesOf(
  { upgrade, target, crds, upgraded, restarts, stored, hold }: ChartApplyFacts,
  difference: ChartDifference | undefined,
): readonly string[] {
  if (upgraded) return [];
  const { name, version, place, sha256 } = 'value' in target ? target.value : {};
  const chart = `${name} ${version} from ${place}`;
  return [
    ...('value' in target ? [`the chart is ${chart}${sha256 === undefined ? '' : `, sha256 ${sha256}`}`] : []),
    ...(upgrade?.settings ?? []).map(({ value, to, because }) => `${value}=${to}: ${because}`),
    ...(crds ? [] : ['the new CRDs exist only after the new operator runs: new configuration cannot be applied until after the upgrade']),
    ...(upgrade?.moves && 'value' in stored ? moveNotes(stored.value.record.namespace, upgrade) : []),
    ...holdNote(hold, true),
    ...restartNotes(restarts),
    ...(difference && difference.removed.length > 0 ? [`helm deletes what the chart no longer has: ${difference.removed.join(', ')}`] : []),
  ];
}

function moveNotes(from: string, { name, namespace }: HelmUpgrade): readonly string[] {
  return [
    `the release moves from ${from} to ${namespace}: helm install takes over the objects that are there and deletes nothing; the old record in ${from} is deleted once ${namespace}/${name} is deployed`,
    'helm install leaves custom resources as they are, the Installation among them: change those with kubectl, not by values, in this step',
  ];
}

function releaseText({ chart }: Installation): string {
  return chart ? `release ${chart.namespace}/${chart.name}` : 'the chart release';
}
