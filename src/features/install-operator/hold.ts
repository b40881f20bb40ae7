import type { Action, Exec } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import type { OperatorIgnores } from '../../kernel/operator-names.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, imageAge } from '../../kernel/release.ts';
import { continues, type RunRecord, runIdOf } from '../../kernel/run-record.ts';
import { heldBy, ignoredAt, isAnnotatedByUser, isWhollyHeld, readHeldCopies } from '../../kube/held.ts';
import { probeBetween } from '../network-probe/index.ts';
import { readNodes, waitLimit } from '../rollout/index.ts';
import { containersOf, replacesApi } from '../survey/index.ts';
import { agentsOf, OPERATOR_MS } from './end.ts';
import { type OperatorImageOf, readExpectation } from './expectation.ts';
import { isPaced, type PaceFacts, returnPace } from './pace.ts';
import type { EndExpected, OperatorExpected } from './wait-end.ts';

/** Typha, which a target of this release must not become before the agents: it refuses older ones (domain §0.2). */
export interface HoldFacts {
  readonly ignores: OperatorIgnores;
  /** The Deployment as it is. */
  readonly typha: KubeObject;
  /** Its ReplicaSets that bear our annotation. */
  readonly copies: readonly KubeObject[];
  /** Typha of the target refuses the agents that the upgrade begins with. */
  readonly refuses: boolean;
  /** The run that would hold it. */
  readonly run: string;
}

/** Undefined where nothing can be held: no Typha, or an operator of which no such annotation is known. `mayHaveHeld`: an earlier run. */
export async function readHold(
  { cluster }: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
  record: RunRecord | undefined,
  mayHaveHeld = replacesApi(record, context),
): Promise<HoldFacts | undefined> {
  const { profile, clusterUid, startedAt } = context;
  const names = heldNames(profile);
  if (!names || !installation.hasTypha) return undefined;
  const typha = await cluster.get(K.Deployment, names.typha.name, names.typha.namespace);
  if (!typha) return undefined;
  const copies = mayHaveHeld || heldBy(typha) !== undefined ? await readHeldCopies(cluster, refOf(typha)) : [];
  const run = continues(record, context) ? record.runId : runIdOf(startedAt, clusterUid);
  const isOld = containersOf(typha).every(({ image = '' }) => imageAge(image, context.goal.release, []) !== 'of');
  return { ignores: names.ignores, typha, copies, refuses: isOld && typhaRefuses(context, installation, record), run };
}

/** What is held, and by which annotation; undefined where the profile lacks either. */
export function heldNames({ operator: { typha, ignores }, typhaRefusesAgentsBefore: since }: Profile) {
  return typha && ignores && since !== undefined ? { typha, ignores } : undefined;
}

/** Of the agents that the upgrade begins with. */
export function typhaRefuses(context: Context, installation: Pick<Installation, 'release'>, record: RunRecord | undefined): boolean {
  const { profile, goal } = context;
  const since = profile.typhaRefusesAgentsBefore;
  const source = continues(record, context) ? record.intent.from : installation.release;
  return since !== undefined && crosses(source, goal.release, since);
}

/** It is held by this program, now. */
export const isHeld = ({ typha }: HoldFacts): boolean => heldBy(typha) !== undefined;

/** The new operator will find it held. */
function willBeHeld(facts: HoldFacts): boolean {
  return isHeld(facts) || (facts.refuses && !isAnnotatedByUser(facts.typha, facts.ignores));
}

interface Ahead {
  readonly hold: HoldFacts | undefined;
  readonly pace: PaceFacts | undefined;
}

/** What `afterAgents` waits for; not read where nothing is done after them. */
export async function readHeldWait(
  sources: Sources,
  context: Context,
  installation: Installation,
  { hold, pace, imageOf }: Ahead & { readonly imageOf: OperatorImageOf },
): Promise<HeldWait | undefined> {
  if (!(hold && willBeHeld(hold)) && pace?.wanted === undefined) return undefined;
  const [until, nodes] = await Promise.all([readExpectation(sources, context, installation, imageOf), readNodes(sources)]);
  return { until, nodes: nodes.length };
}

const REF = 'domain §0.2';

/** Right before the operator is replaced. */
export function holdTypha(facts: HoldFacts | undefined): readonly Action[] {
  if (!facts || isWhollyHeld(facts.typha, facts.ignores) || !willBeHeld(facts)) return [];
  const { typha, ignores, run } = facts;
  const target = refOf(typha);
  return [
    {
      id: 'hold-typha',
      title: `hold ${refText(target)} at its release until every agent is upgraded`,
      ref: REF,
      undo: 'full',
      keep: { changes: [changeTo(typha, { [ignoredAt(ignores)]: ignores.value })] },
      effect: { type: 'hold-workload', target, ignores, run },
    },
  ];
}

/** The action that starts the new operator, which must find Typha held. */
export function onlyHeld(action: Action, facts: HoldFacts | undefined): Action {
  if (action.effect.type !== 'exec' || !facts || !willBeHeld(facts)) return action;
  const onlyIf = { type: 'workloads-held', targets: [refOf(facts.typha)], ignores: facts.ignores } as const;
  return { ...action, effect: { ...action.effect, onlyIf } satisfies Exec };
}

/** The agents that are waited for while Typha is held. */
export interface HeldWait {
  readonly until: EndExpected;
  readonly nodes: number;
}

/** Once the new operator runs: all agents first, then their own pace again, and Typha. `wait` follows Typha by its image. */
export function afterAgents({ hold, pace }: Ahead, starts: boolean, wait: HeldWait | undefined, context: Context): readonly Action[] {
  const holds = hold !== undefined && (isHeld(hold) || (starts && willBeHeld(hold)));
  const isAwaited = wait && ((holds && (starts || isHeld(hold))) || isPaced(pace, starts));
  return [
    ...(isAwaited ? waitAgents(wait, holds, context) : []),
    ...returnPace(pace, starts),
    ...(holds ? [releaseAction(hold)] : releaseLeft(hold)),
  ];
}

/** What an interrupted run left held, without waiting. */
export function releaseLeft(facts: HoldFacts | undefined): readonly Action[] {
  return facts && (isHeld(facts) || facts.copies.length > 0) ? [releaseAction(facts)] : [];
}

function releaseAction({ typha, ignores }: HoldFacts): Action {
  const target: ObjectRef = refOf(typha);
  return {
    id: 'release-typha',
    title: `release ${refText(target)}: the operator changes it now`,
    ref: REF,
    undo: 'full',
    effect: { type: 'release-workload', target, ignores },
  };
}

function waitAgents({ until, nodes }: HeldWait, holds: boolean, { goal, options, profile: { operator } }: Context): readonly Action[] {
  if (until.type !== 'operator-end') return [];
  const timeoutMs = waitLimit(options, nodes, OPERATOR_MS);
  const agents: OperatorExpected = { ...until, part: 'agents', ...(holds ? { holdsTypha: true } : {}) };
  const done = goal.takesBack ? 'put every agent back' : 'upgraded every agent';
  const title = `wait until the operator has ${done} to ${goal.release}${holds ? '; Typha is held meanwhile' : ''}`;
  return [
    ...probeBetween(agentsOf(operator, until.target), { ...until, firstOf: agentsOf(operator, until.target) }, options, timeoutMs),
    { id: 'agents', title, ref: REF, undo: 'full', effect: { type: 'wait', until: agents, timeoutMs } },
  ];
}

/** For the plan of every path on which an operator replaces both. */
export function holdNote(facts: HoldFacts | undefined): readonly string[] {
  if (!facts || !willBeHeld(facts)) return [];
  const { typha, ignores } = facts;
  return [
    `${refText(refOf(typha))} gets the annotation ${ignores.annotation}: the operator does not change it until every agent is upgraded, because Typha of the target refuses older agents`,
  ];
}
