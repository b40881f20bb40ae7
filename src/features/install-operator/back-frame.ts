import type { Action } from '../../kernel/action.ts';
import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { PlannedRestart } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { readTables, type TablesJudged } from '../going-back/index.ts';
import { removeAdded } from '../install-manifest/index.ts';
import { waitLimit } from '../rollout/index.ts';
import { attempt, listServed } from '../survey/index.ts';
import { readRestarts } from './apply.ts';
import { OPERATOR_MS } from './end.ts';
import { type OperatorImageOf, readExpectation } from './expectation.ts';
import { afterAgents, type HoldFacts, readHold, releaseLeft } from './hold.ts';
import { type AgentsHold, agentsHoldNote, holdAgents, onlyWhileHeld, readAgentsHold, typhaThenAgents } from './hold-agents.ts';
import { type NewerOnly, readNewerOnly } from './newer-only.ts';
import { atPace, type PaceFacts, paceNotes, readPace, returnOwnPace, setPace, withoutOwnPace } from './pace.ts';
import type { EndExpected } from './wait-end.ts';

/** Titles of plans and pages. */
export const BACK_REF = 'domain §7.2c';

/** What is done around the return of an older operator, whatever installs it. */
export interface BackFrame extends TablesJudged {
  readonly agents: AgentsHold | undefined;
  /** Typha, which an interrupted upgrade may have left held. */
  readonly hold: HoldFacts | undefined;
  readonly until: EndExpected;
  readonly newer: NewerOnly;
  /** Sets of digests by which images are pinned. */
  readonly imageSets: Reading<readonly KubeObject[]>;
  readonly pace: PaceFacts | undefined;
  /** As far as it is known. */
  readonly nodes: number;
  /** What the older operator will restart. */
  readonly restarts: readonly PlannedRestart[];
}

export async function readBackFrame(
  sources: Sources,
  context: Context,
  installation: Installation,
  record: RunRecord | undefined,
  imageOf: OperatorImageOf,
): Promise<BackFrame> {
  const [agents, hold, until, newer, restarts, imageSets, tables, pace] = await Promise.all([
    readAgentsHold(sources, context, installation, record),
    readHold(sources, context, installation, record, true),
    readExpectation(sources, context, installation, imageOf),
    readNewerOnly(sources, context, installation),
    readRestarts(sources.cluster, context),
    readImageSets(sources, context),
    readTables(sources, context, installation),
    readPace(sources, context, installation),
  ]);
  const nodes = installation.nodes ?? 1;
  return { agents, hold, until, newer, restarts: atPace(restarts, pace, context), imageSets, tables, pace, nodes };
}

function readImageSets({ cluster }: Pick<Sources, 'cluster'>, { profile }: Context): Promise<Reading<readonly KubeObject[]>> {
  const kind = profile.operator.crossings?.imageSet.kind;
  return attempt(async () => (kind === undefined ? [] : listServed(cluster, `${profile.operatorGroup}/v1`, kind)));
}

/** What installs the older operator; and what the manifest has added and nothing uses. */
export interface Brings {
  /** It runs once these are done, and does not yet. */
  readonly starts: boolean;
  readonly actions: readonly Action[];
  /** They write the Installation as well. */
  readonly ofInstallation?: true;
  readonly added?: readonly KubeObject[];
}

/**
 * The new operator is stopped by then. The older one writes Typha and agents in the same second, so the agents are held from it until Typha is
 * old. A Typha that the upgrade held is released before that, and last goes what only the newer one makes.
 */
export function aroundOlder(frame: BackFrame, brings: Brings, context: Context): readonly Action[] {
  const { agents, hold, until, newer, nodes } = frame;
  const { starts, actions, ofInstallation, added = [] } = brings;
  const returned = starts && ofInstallation ? returnOwnPace(frame.pace) : [];
  const pace = returned.length > 0 ? withoutOwnPace(frame.pace) : frame.pace;
  const set = setPace(pace, starts);
  return [
    ...(starts ? holdAgents(agents) : []),
    ...returned,
    ...(ofInstallation ? [] : set),
    ...actions.map((action) => (starts ? onlyWhileHeld(action, agents) : action)),
    ...(ofInstallation ? set : []),
    ...releaseLeft(hold),
    ...typhaThenAgents(agents, starts, until, context),
    ...afterAgents({ hold: undefined, pace }, starts, { until, nodes }, context),
    ...movedApi(frame, context),
    ...removeAdded(added, [...newer.any, ...newer.api]),
  ];
}

export function backNotes({ agents, pace }: BackFrame, starts: boolean): readonly string[] {
  return [
    ...(starts ? agentsHoldNote(agents) : []),
    ...paceNotes(pace, starts),
    'the older operator puts back the CRDs that it knows, each to its own release; CRDs that are new stay',
  ];
}

/** The older operator runs the API server in another namespace: the newer one's serves until then. */
function movedApi({ newer, until }: BackFrame, { options }: Context): readonly Action[] {
  if (newer.api.length === 0 || until.type !== 'operator-end') return [];
  const { service, namespace } = until.names.api;
  const timeoutMs = waitLimit(options, 1, OPERATOR_MS);
  const title = `wait until APIService ${service} is served from ${namespace} again`;
  return [{ id: 'api', title, ref: BACK_REF, undo: 'full', effect: { type: 'wait', until: { ...until, part: 'api' }, timeoutMs } }];
}
