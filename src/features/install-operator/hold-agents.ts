import type { Action, Exec } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { groupOf, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import type { OperatorIgnores } from '../../kernel/operator-names.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, imageAge } from '../../kernel/release.ts';
import { continues, type RunRecord, runIdOf } from '../../kernel/run-record.ts';
import { heldBy, ignoredAt, isAnnotatedByUser, isWhollyHeld } from '../../kube/held.ts';
import { meetsNewTables } from '../going-back/index.ts';
import { waitLimit } from '../rollout/index.ts';
import { containersOf } from '../survey/index.ts';
import { OPERATOR_MS } from './end.ts';
import type { EndExpected } from './wait-end.ts';

/** The DaemonSets that an older operator would change in the same second as Typha, while the newer Typha refuses older agents (domain §0.2). */
export interface AgentsHold {
  readonly ignores: OperatorIgnores;
  /** As they are, those of Windows nodes and of the CSI driver too. */
  readonly sets: readonly KubeObject[];
  /** Of these what is not of the release that is gone back to, where Typha of the release that is left refuses older agents. */
  readonly due: readonly KubeObject[];
  /** The run that would hold them. */
  readonly run: string;
}

/** Undefined where nothing can be held: no Typha, or an operator of which no such annotation is known. */
export async function readAgentsHold(
  { cluster }: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
  record: RunRecord | undefined,
): Promise<AgentsHold | undefined> {
  const { profile, goal, clusterUid, startedAt } = context;
  const { ignores, typha } = profile.operator;
  if (!ignores || !typha || profile.typhaRefusesAgentsBefore === undefined || !installation.hasTypha) return undefined;
  const sets = await readOwnSets(cluster, profile);
  const isOld = (set: KubeObject) => containersOf(set).every(({ image = '' }) => imageAge(image, goal.release, []) === 'of');
  const due = refusesOlder(context) ? sets.filter((set) => !isOld(set) && !isAnnotatedByUser(set, ignores)) : [];
  const run = continues(record, context) ? record.runId : runIdOf(startedAt, clusterUid);
  return { ignores, sets, due, run };
}

/** What the operator makes: it owns them, and the agents are its own in any case. */
export async function readOwnSets(cluster: Pick<Sources['cluster'], 'list'>, { operator }: Profile): Promise<readonly KubeObject[]> {
  const sets = await cluster.list(K.DaemonSet, { namespace: operator.workloadNamespace });
  const isOwned = ({ metadata }: KubeObject) =>
    metadata.ownerReferences?.some(({ apiVersion }) => groupOf(apiVersion) === operator.installationKind.group) === true;
  const own = sets.filter((set) => set.metadata.name === operator.agent.name || isOwned(set) || heldBy(set) !== undefined);
  return own.map((set) => ({ ...set, apiVersion: 'apps/v1', kind: K.DaemonSet.kind }));
}

/** Typha of the release that is left refuses agents of the one that is gone back to. */
export function refusesOlder({ goal: { release, takesBack }, profile }: Context): boolean {
  const since = profile.typhaRefusesAgentsBefore;
  return takesBack !== undefined && since !== undefined && crosses(release, takesBack.to, since);
}

const REF = 'domain §0.2';

export const heldSets = (facts: AgentsHold | undefined): readonly KubeObject[] =>
  facts?.sets.filter((set) => heldBy(set) !== undefined) ?? [];

/** Right before the older operator starts. */
export function holdAgents(facts: AgentsHold | undefined): readonly Action[] {
  if (!facts) return [];
  const { ignores, run } = facts;
  return facts.due
    .filter((set) => !isWhollyHeld(set, ignores))
    .map((set) => ({
      id: `hold-${set.metadata.name}`,
      title: `hold ${refText(refOf(set))} until Typha is of the older release`,
      ref: REF,
      undo: 'full',
      keep: { changes: [changeTo(set, { [ignoredAt(ignores)]: ignores.value })] },
      effect: { type: 'hold-workload', target: refOf(set), ignores, run },
    }));
}

/** The action that starts the older operator, which must find them held. */
export function onlyWhileHeld(action: Action, facts: AgentsHold | undefined): Action {
  if (action.effect.type !== 'exec' || !facts || facts.due.length === 0) return action;
  const onlyIf = { type: 'workloads-held', targets: facts.due.map(refOf), ignores: facts.ignores } as const;
  return { ...action, effect: { ...action.effect, onlyIf } satisfies Exec };
}

/** What is held, and of an operator that starts what will be. */
function heldThen(facts: AgentsHold, starts: boolean): readonly KubeObject[] {
  return starts ? [...new Set([...heldSets(facts), ...facts.due])] : heldSets(facts);
}

/** Beside the time for which Typha is watched once it is back, or the agents would never be released. */
const RELEASED_WITHIN_MS = 45_000;

/** Once the older operator runs: Typha first, then each DaemonSet. `wait` follows them by their images. */
export function typhaThenAgents(facts: AgentsHold | undefined, starts: boolean, until: EndExpected, context: Context): readonly Action[] {
  const { goal, options } = context;
  const held = facts ? heldThen(facts, starts) : [];
  if (!facts || held.length === 0) return [];
  const timeoutMs = waitLimit(options, 1, OPERATOR_MS);
  const title = `wait until the operator has put Typha back to ${goal.release}; the agents are held meanwhile`;
  const typha: readonly Action[] =
    until.type === 'operator-end'
      ? [{ id: 'typha', title, ref: REF, undo: 'full', effect: { type: 'wait', until: { ...until, part: 'typha' }, timeoutMs } }]
      : [];
  // The older agents come with it. Whatever is read again waits for Typha again, which has to stay for a while.
  const asked = meetsNewTables(context) ? { afresh: true, judgedWithinMs: until.holdMs + RELEASED_WITHIN_MS } : {};
  return [...typha, ...held.map((set, index) => ({ ...releaseSet(set, facts.ignores), ...(index === 0 ? asked : {}) }))];
}

/** Whatever is held, without waiting: a newer operator replaces the agents before Typha. */
export function releaseAgents(facts: AgentsHold | undefined): readonly Action[] {
  return facts ? heldSets(facts).map((set) => releaseSet(set, facts.ignores)) : [];
}

export function releaseSet(set: KubeObject, ignores: OperatorIgnores): Action {
  return {
    id: `release-${set.metadata.name}`,
    title: `release ${refText(refOf(set))}: the operator changes it now`,
    ref: REF,
    undo: 'full',
    effect: { type: 'release-workload', target: refOf(set), ignores },
  };
}

/** For the plan. */
export function agentsHoldNote(facts: AgentsHold | undefined): readonly string[] {
  if (!facts || facts.due.length === 0) return [];
  const names = facts.due.map((set) => refText(refOf(set))).join(', ');
  return [
    `${names} get the annotation ${facts.ignores.annotation} and OnDelete: the operator does not change them until Typha is of the older release, because the newer one refuses older agents`,
  ];
}
