import type { Action } from '../../kernel/action.ts';
import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { PlannedRestart } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import {
  type ApplyFacts,
  applyWhole,
  carriedOf,
  emptiedSecrets,
  emptyTargets,
  leftBehind,
  NO_ORPHANS,
  readAdded,
  readMergedTarget,
  removeAdded,
  unservedNotes,
} from '../install-manifest/index.ts';
import { readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { defaultWaitMs, readNodes, readRollouts } from '../rollout/index.ts';
import { attempt, listServed, pathPart } from '../survey/index.ts';
import { operatorTarget, readRestarts, waitForOperator } from './apply.ts';
import { operatorChecksBack } from './checks.ts';
import { OPERATOR_MS, readExpectation } from './end.ts';
import { type AgentsHold, agentsHoldNote, holdAgents, onlyWhileHeld, readAgentsHold, typhaThenAgents } from './hold-agents.ts';
import { type NewerOnly, readNewerOnly } from './newer-only.ts';
import type { EndExpected } from './wait-end.ts';

interface BackFacts extends Omit<ApplyFacts, 'variant' | 'waves' | 'roles' | 'rolePreviews' | 'nodes'> {
  readonly agents: AgentsHold | undefined;
  readonly until: EndExpected;
  readonly newer: NewerOnly;
  readonly imageSets: Reading<readonly KubeObject[]>;
  /** What the older operator will restart. */
  readonly restarts: readonly PlannedRestart[];
}

/** The older operator, as it was: it writes Typha and agents in the same second, so the agents are held from it until Typha is old. */
export const operatorBack = pathPart<BackFacts>({
  checks: operatorChecksBack,
  survey: readBackFacts,
  plan(facts, context) {
    const { target, previews, orphans, added, agents, newer } = facts;
    const starts = startsOlder(facts);
    const whole = { id: 'operator', file: target.file, title: 'apply the older operator', ref: REF, manifest: target.manifest, previews };
    const actions: readonly Action[] = [
      ...(starts ? holdAgents(agents) : []),
      ...applyWhole(whole, context).map((action) => (starts ? onlyWhileHeld({ ...action, afresh: true }, agents) : action)),
      ...waitForOperator(facts, context),
      ...typhaThenAgents(agents, starts, facts.until, context),
      ...movedApi(facts, context),
      ...removeAdded([...newer.any, ...newer.api, ...added]),
    ];
    const left = leftBehind(orphans, added);
    if (actions.length === 0) return { skip: `the operator equals ${target.url}, and runs`, objects: left };
    return {
      actions,
      objects: [...previews.map(({ planned }) => planned), ...left],
      notes: [
        ...(target.manifest.notes ?? []),
        ...('value' in facts.edits ? facts.edits.value.notes : []),
        ...unservedNotes(orphans),
        ...(starts ? agentsHoldNote(agents) : []),
        'the older operator puts back the CRDs that it knows, each to its own release; CRDs that are new stay',
      ],
      ...(starts ? { restarts: facts.restarts } : {}),
      ...carriedOf(facts),
      remember: { digests: { [target.file]: target.sha256 } },
    };
  },
});

const REF = 'domain §7.2c';

async function readBackFacts(sources: Sources, context: Context, installation: Installation): Promise<BackFacts> {
  const record = await sources.records.load();
  const [merged, nodes, owners, agents] = await Promise.all([
    readMergedTarget(sources, context, installation, record),
    readNodes(sources),
    readOwnersAtDeadline(sources, context, installation),
    readAgentsHold(sources, context, installation, record),
  ]);
  const { target, edits, previews } = merged;
  const own = operatorTarget(target, context, installation);
  const orphans = 'value' in edits ? edits.value.orphans : NO_ORPHANS;
  const [rollouts, restarts, until, added, newer, imageSets] = await Promise.all([
    readRollouts(sources, [own], nodes),
    readRestarts(sources.cluster, context),
    readExpectation(sources, context, installation, async () => own.image),
    readAdded(sources, context, orphans),
    readNewerOnly(sources, context, installation),
    readImageSets(sources, context),
  ]);
  const atZero = emptyTargets({ rollouts, previews, edits, record }, context);
  const found = {
    installation,
    record,
    orphans,
    added,
    newer,
    imageSets,
    restarts,
    rollouts,
    renamingSwitch: undefined,
    atZero,
    agents,
    until,
  };
  return { ...merged, ...found, store: undefined, emptied: emptiedSecrets(previews), ...owners };
}

/** The older operator runs the API server in another namespace: the newer one's serves until then. */
function movedApi({ newer, until }: BackFacts, { options }: Context): readonly Action[] {
  if (newer.api.length === 0 || until.type !== 'operator-end') return [];
  const { service, namespace } = until.names.api;
  const timeoutMs = options.timeoutMs ?? defaultWaitMs(1) + OPERATOR_MS;
  const title = `wait until APIService ${service} is served from ${namespace} again`;
  return [{ id: 'api', title, ref: REF, undo: 'full', effect: { type: 'wait', until: { ...until, part: 'api' }, timeoutMs } }];
}

/** Sets of digests by which images are pinned. */
function readImageSets({ cluster }: Pick<Sources, 'cluster'>, { profile }: Context): Promise<Reading<readonly KubeObject[]>> {
  const kind = profile.operator.crossings?.imageSet.kind;
  return attempt(async () => (kind === undefined ? [] : listServed(cluster, `${profile.operatorGroup}/v1`, kind)));
}

/** The operator's pod gets another image, or there was none. */
function startsOlder({ previews }: BackFacts): boolean {
  const planned = previews.find(({ document }) => document.kind === 'Deployment')?.planned;
  return planned?.change === 'create' || planned?.fields.some(({ path }) => /\.(image|replicas)$/.test(path)) === true;
}
