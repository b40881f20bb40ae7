import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { PlannedRestart } from '../../kernel/plan.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { imageRelease, sameRelease } from '../../kernel/release.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { continues } from '../../kernel/run-record.ts';

import { type NoReturnPoint, noReturnOfOperator } from '../../kernel/undo.ts';
import { objectsIn } from '../../manifest/manifest.ts';
import { tablesNotes } from '../going-back/index.ts';
import {
  type ApplyFacts,
  applyCrds,
  applyWhole,
  type CrdFacts,
  carriedOf,
  changes,
  created,
  emptiedSecrets,
  emptyTargets,
  leftBehind,
  ownFile,
  readMergedTarget,
  readOrphans,
  readTarget,
  restartOf,
  type Target,
  unkeptNotes,
  unservedNotes,
} from '../install-manifest/index.ts';
import { readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { holdNotes, holdOrRelease, readRenamingSwitch } from '../policies/index.ts';
import { neededTarget, readNodes, readRollouts, rolloutWait } from '../rollout/index.ts';
import { containersOf, isImageOf, pathPart } from '../survey/index.ts';
import { operatorChecks } from './checks.ts';
import { readHealth, type StatusFacts } from './component-statuses.ts';
import { readAppliedCrds } from './crds.ts';
import { keepBeforeOperator } from './end.ts';
import { enableFlowLogs, readConsoleNotes, readMissingFlowLogs } from './flow-logs.ts';
import {
  afterAgents,
  type HeldWait,
  type HoldFacts,
  holdNote,
  holdWorkloads,
  onlyHeld,
  readHeldWait,
  readHold,
  releasesHeld,
  withoutHeld,
} from './hold.ts';
import { type AgentsHold, readAgentsHold, releaseAgents } from './hold-agents.ts';
import { readServiceWorkloads } from './operated-images.ts';
import { atPace, type PaceFacts, paceNotes, readPace, setPace } from './pace.ts';

/** `rollouts` has the operator's own Deployment. */
interface OperatorFacts extends Omit<ApplyFacts, 'added' | 'tables' | 'variant' | 'waves' | 'roles' | 'rolePreviews' | 'nodes'> {
  readonly crds: CrdFacts;
  /** What the new operator will restart. */
  readonly restarts: readonly PlannedRestart[];
  /** Resources of the flow logs that are asked for and not there. */
  readonly flowLogs: readonly KubeObject[];
  readonly console: readonly string[];
  readonly hold: HoldFacts | undefined;
  readonly heldWait: HeldWait | undefined;
  readonly pace: PaceFacts | undefined;
  /** What a rollback that was not finished still holds. */
  readonly agents: AgentsHold | undefined;
  readonly health: StatusFacts | undefined;
}

/**
 * The operator's manifest, and before it whatever of the CRDs is not there yet: between the two there is no pause (§4.3/2).
 * It waits for the operator's own pod only; what the operator does then is what the wait stage is for.
 */
export const operatorForward = pathPart<OperatorFacts>({
  checks: operatorChecks,
  survey: readOperatorFacts,
  plan(facts, context) {
    const { target, previews } = facts;
    const actions = operatorActions(facts, context);
    const restarts = startsOperator(facts) || releasesHeld(facts.hold);
    const left = leftBehind(facts.orphans);
    if (actions.length === 0) return { skip: `the operator equals ${target.url}, and runs`, objects: left };
    return {
      actions,
      objects: [
        ...previews.map(({ planned }) => planned),
        ...facts.flowLogs.map((one) => ({ ...created(one).planned, bodies: { after: one } })),
        ...left,
      ],
      notes: [
        ...notesOf(facts),
        ...unkeptNotes(facts, context),
        ...unservedNotes(facts.orphans),
        ...(restarts ? restartNotes(facts.restarts) : []),
        ...(startsOperator(facts) ? tablesNotes(noReturnOf(facts, context), context.options) : []),
        ...holdNotes(context),
        ...facts.console,
      ],
      ...(restarts ? { restarts: facts.restarts } : {}),
      ...carriedOf(facts),
      remember: {
        digests: { [target.file]: target.sha256, [facts.crds.crds.file]: facts.crds.crds.sha256 },
      },
    };
  },
});

async function readOperatorFacts(sources: Sources, context: Context, installation: Installation): Promise<OperatorFacts> {
  const record = await sources.records.load();
  const [merged, crds, nodes, renamingSwitch, owners, hold, health, agents, pace] = await Promise.all([
    readMergedTarget(sources, context, installation, record),
    readAppliedCrds(sources, context, installation),
    readNodes(sources),
    readRenamingSwitch(sources, context, record),
    readOwnersAtDeadline(sources, context, installation),
    readHold(sources, context, installation, record),
    readHealth(sources, context, installation),
    readAgentsHold(sources, context, installation, record),
    readPace(sources, context, installation),
  ]);
  const { target, edits, previews } = merged;
  const own = operatorTarget(target, context, installation);
  const [rollouts, flowLogs, console, orphans, restarts, heldWait] = await Promise.all([
    readRollouts(sources, [own], nodes),
    readMissingFlowLogs(sources, context, { url: crds.crds.url, documents: objectsIn(crds.crds.manifest) }),
    readConsoleNotes(sources.cluster, context),
    readOrphans(sources.cluster, context, crds.crds.manifest, edits),
    readRestarts(sources.cluster, context),
    readHeldWait(sources, context, installation, { hold, pace, imageOf: async () => own.image }),
  ]);
  const atZero = emptyTargets({ rollouts, previews, edits, record }, context);
  const found = {
    installation,
    record,
    crds,
    orphans,
    restarts: withoutHeld(atPace(restarts, pace, context), hold),
    rollouts,
    flowLogs,
    console,
    renamingSwitch,
    atZero,
    hold,
    heldWait,
    pace,
    agents,
    health,
  };
  return { ...merged, ...found, store: undefined, emptied: emptiedSecrets(previews), ...owners };
}

function operatorActions(facts: OperatorFacts, context: Context): readonly Action[] {
  const { target, previews, crds } = facts;
  const whole = { id: 'operator', file: target.file, title: 'apply the operator', ref: '§4.3/2', manifest: target.manifest, previews };
  const brings = applyCrds(crds, '§4.3/2', context, facts.installation, `apply ${crds.crds.file}, unless the stage before has`);
  // The new CRDs have the switch; the operator starts the controllers that read it.
  const hold = holdOrRelease(facts.renamingSwitch, context);
  const starts = startsOperator(facts);
  if (hold.length > 0 && starts && facts.installation.restoresCrds) throw noSwitchYet();
  return [
    ...brings,
    ...hold,
    ...(starts ? keepBeforeOperator(context, nodesIn(facts)) : []),
    ...holdWorkloads(facts.hold, starts),
    ...setPace(facts.pace, starts),
    ...applyWhole(whole, context).map((action) => (starts ? onlyHeld(startingOperator(action, facts, context), facts.hold) : action)),
    ...waitForOperator(facts, context),
    ...enableFlowLogs(facts.flowLogs, context),
    ...releaseAgents(facts.agents),
    ...afterAgents(facts, starts, facts.heldWait, context),
  ];
}

/** As far as it is known. */
const nodesIn = ({ installation, heldWait }: Pick<OperatorFacts, 'installation' | 'heldWait'>): number =>
  installation.nodes ?? heldWait?.nodes ?? 1;

/** Only the new operator installs the CRD that knows the switch, and starts the controllers right after it. */
export function noSwitchYet(): Fault {
  return new Fault(
    'usage',
    '--until controllers cannot be kept here: the installed operator puts its own CRDs back, which drop the switch, and only the new one installs those that know it',
    ['leave out --until controllers'],
  );
}

/** The operator's pod gets another image, or there was none. */
function startsOperator({ previews }: OperatorFacts): boolean {
  const deployment = previews.find(({ document }) => document.kind === 'Deployment')?.planned;
  return deployment?.change === 'create' || deployment?.fields.some(({ path }) => path.endsWith('.image')) === true;
}

/** Why nothing goes back once the new operator runs, whatever applies it; undefined where a rollback does. */
export function noReturnOf(
  { installation, record }: Pick<OperatorFacts, 'installation' | 'record'>,
  context: Context,
): NoReturnPoint | undefined {
  // Once begun, only the record knows the source.
  const from = continues(record, context) ? record.intent.from : installation.release;
  const { path, dataPlane } = installation;
  return noReturnOfOperator({ path, intent: from === undefined ? {} : { from }, ...(dataPlane === undefined ? {} : { dataPlane }) });
}

/** The new operator changes UIDs within seconds: a reference that came back meanwhile must be found before (§4.8). */
function startingOperator(action: Action, facts: OperatorFacts, context: Context): Action {
  if (action.effect.type !== 'exec') return action;
  const pointOfNoReturn = noReturnOf(facts, context);
  return { ...action, afresh: true, ...(pointOfNoReturn === undefined ? {} : { undo: 'none', pointOfNoReturn }) };
}

export function waitForOperator({ rollouts, previews }: Pick<OperatorFacts, 'rollouts' | 'previews'>, context: Context): readonly Action[] {
  if (!changes({ previews }) && rollouts.every(({ done }) => done)) return [];
  const targets = rollouts.map(({ target }) => target);
  return [rolloutWait('wait-operator', '§4.3/2', targets, context, 1)];
}

function notesOf(facts: OperatorFacts): readonly string[] {
  const { target, crds, edits, hold, pace } = facts;
  const late = changes(crds) ? 'CRDs that are not there yet are applied first; between them and the operator there is no pause' : '';
  const paced = paceNotes(pace, startsOperator(facts));
  const never = `${paced.length > 0 ? 'nothing else of the Installation is changed' : 'the Installation is not changed'}, and custom-resources.yaml is not applied`;
  const told = 'value' in edits ? edits.value.notes : [];
  return [...(target.manifest.notes ?? []), ...told, late, ...holdNote(hold, startsOperator(facts)), ...paced, never].filter(
    (note) => note !== '',
  );
}

/** What the operator's Deployment must become; its name is the live one, which the target has been found to have. */
export function operatorTarget(target: Target, context: Context, installation: Installation): RolloutTarget {
  const { agent } = ownFile(context, installation).variant;
  const { namespace, name } = installation.operator ?? agent;
  const found = neededTarget({ ...agent, namespace, name }, { documents: objectsIn(target.manifest) });
  if (found) return found;
  throw new Error(`${target.file} has no container ${agent.container} in Deployment ${namespace}/${name}`);
}

/** The image that the operator gets (point 1 of the rule for the end). */
export async function operatorImage(sources: Sources, context: Context, installation: Installation): Promise<string> {
  return operatorTarget(await readTarget(sources, context, installation), context, installation).image;
}

/** What the new operator will restart, which no manifest of ours tells: workloads of the service that do not run the target yet. */
export async function readRestarts(cluster: Pick<ClusterReader, 'list'>, context: Context): Promise<readonly PlannedRestart[]> {
  const workloads = await readServiceWorkloads(cluster, context);
  return workloads.filter((one) => isOther(one, context)).flatMap((one) => restartOf(one) ?? []);
}

/** For the plan's notes; none where nothing restarts. */
export function restartNotes(restarts: readonly PlannedRestart[]): readonly string[] {
  const texts = restarts.map(({ ref, pods }) => `${refText(ref)} (${counted(pods, 'pod')})`);
  return texts.length === 0 ? [] : [`the new operator restarts ${texts.join(', ')}`];
}

/** Runs the service, in another release or one that its image does not tell. */
function isOther(workload: KubeObject, { profile, goal }: Context): boolean {
  const { agent, controllers, typha, apiserver, csi } = profile.images;
  const own = [...agent, ...controllers, ...typha, ...apiserver, ...csi];
  const images = containersOf(workload).map(({ image = '' }) => image);
  return images.some((image) => isImageOf(image, own) && !sameRelease(imageRelease(image) ?? '', goal.release));
}
