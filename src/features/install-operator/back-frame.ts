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
import { type HoldFacts, readHold, releaseLeft } from './hold.ts';
import { type AgentsHold, agentsHoldNote, holdAgents, onlyWhileHeld, readAgentsHold, typhaThenAgents } from './hold-agents.ts';
import { type NewerOnly, readNewerOnly } from './newer-only.ts';
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
  const [agents, hold, until, newer, restarts, imageSets, tables] = await Promise.all([
    readAgentsHold(sources, context, installation, record),
    readHold(sources, context, installation, record, true),
    readExpectation(sources, context, installation, imageOf),
    readNewerOnly(sources, context, installation),
    readRestarts(sources.cluster, context),
    readImageSets(sources, context),
    readTables(sources, context, installation),
  ]);
  return { agents, hold, until, newer, restarts, imageSets, tables };
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
  readonly added?: readonly KubeObject[];
}

/**
 * The new operator is stopped by then. The older one writes Typha and agents in the same second, so the agents are held from it until Typha is
 * old. A Typha that the upgrade held is released before that, and last goes what only the newer one makes.
 */
export function aroundOlder(frame: BackFrame, { starts, actions, added = [] }: Brings, context: Context): readonly Action[] {
  const { agents, hold, until, newer } = frame;
  return [
    ...(starts ? holdAgents(agents) : []),
    ...actions.map((action) => (starts ? onlyWhileHeld(action, agents) : action)),
    ...releaseLeft(hold),
    ...typhaThenAgents(agents, starts, until, context),
    ...movedApi(frame, context),
    ...removeAdded(added, [...newer.any, ...newer.api]),
  ];
}

export function backNotes({ agents }: BackFrame, starts: boolean): readonly string[] {
  return [
    ...(starts ? agentsHoldNote(agents) : []),
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
