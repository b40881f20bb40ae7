import type { Action, Exec } from '../../kernel/action.ts';
import { command } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import type { OperatorIgnores } from '../../kernel/operator-names.ts';
import type { PlannedRestart } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, imageAge } from '../../kernel/release.ts';
import { continues, type RunRecord, runIdOf } from '../../kernel/run-record.ts';
import { text } from '../../kernel/step.ts';
import { heldBy, ignoredAt, isAnnotatedByUser, isIgnored, isWhollyHeld, readHeldCopies } from '../../kube/held.ts';
import { probeBetween } from '../network-probe/index.ts';
import { readNodes, waitLimit } from '../rollout/index.ts';
import { containersOf, replacesApi } from '../survey/index.ts';
import { areAgentsBehind } from './agents-behind.ts';
import { agentsOf, OPERATOR_MS, stillBringing } from './end.ts';
import { type OperatorImageOf, readExpectation } from './expectation.ts';
import { isPaced, type PaceFacts, returnPace } from './pace.ts';
import type { EndExpected, OperatorExpected } from './wait-end.ts';

/** A Deployment that may be kept from the operator. */
interface Holdable {
  readonly id: 'typha' | 'controllers';
  /** As it is. */
  readonly object: KubeObject;
  /** Its ReplicaSets that bear our annotation. */
  readonly copies: readonly KubeObject[];
  /** This run is to hold it. */
  readonly due: boolean;
}

/**
 * Typha, which a target of this release must not become before the agents: it refuses older ones (domain §0.2). With `--until agents` it and
 * the controllers, which rename policies.
 */
export interface HoldFacts {
  readonly ignores: OperatorIgnores;
  /** Typha first. */
  readonly all: readonly Holdable[];
  /** They stay held at the end of this run, which goes no further. */
  readonly keeps: boolean;
  /** The run that would hold them. */
  readonly run: string;
}

/** Undefined where an operator is not known to let anything be held. `mayHaveHeld`: an earlier run. Throws Fault('usage') where `--until agents` needs it. */
export async function readHold(
  { cluster }: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
  record: RunRecord | undefined,
  mayHaveHeld = replacesApi(record, context),
): Promise<HoldFacts | undefined> {
  const { profile, clusterUid, startedAt, options, goal } = context;
  const keeps = options.until === 'agents';
  const ignores = profile.operator.ignores;
  if (!ignores) {
    if (keeps) throw holdsNothing(installation);
    return undefined;
  }
  const run = continues(record, context) ? record.runId : runIdOf(startedAt, clusterUid);
  const refuses = typhaRefuses(context, installation, record);
  const read = async (name: HoldName): Promise<readonly Holdable[]> => {
    if (name.id === 'typha' && !installation.hasTypha) return [];
    const object = await cluster.get(K.Deployment, name.name, name.namespace);
    if (!object) return [];
    const copies = mayHaveHeld || heldBy(object) !== undefined ? await readHeldCopies(cluster, refOf(object)) : [];
    const isOld = containersOf(object).every(({ image = '' }) => imageAge(image, goal.release, []) !== 'of');
    return [{ id: name.id, object, copies, due: isOld && (keeps || (name.id === 'typha' && refuses)) }];
  };
  const all = (await Promise.all(holdNames(profile).map(read))).flat();
  const lost = keeps ? all.filter(({ due, object }) => !due && !isIgnored(object, ignores)) : [];
  if (lost.length > 0 && (replacesApi(record, context) || (await areAgentsBehind(cluster, context, installation)))) throw tooLate(lost);
  return { ignores, all, keeps, run };
}

/** Of the target, and the operator is not kept from them: they cannot be the old ones at the end of this run. */
function tooLate(lost: readonly Holdable[]): Fault {
  const names = lost.map(({ object }) => refText(refOf(object))).join(' and ');
  return new Fault('usage', `--until agents comes too late: the new operator has replaced ${names} already`, [
    text`continue without it: ${command`kubectl netsvc-upgrade commit`}`,
  ]);
}

interface HoldName extends Pick<Holdable, 'id'> {
  readonly name: string;
  readonly namespace: string;
}

/** What may be held: not Typha, where no release of it is known that refuses agents. */
export function holdNames({ operator: { typha, controllers, ignores } }: Profile): readonly HoldName[] {
  if (!ignores) return [];
  return [...(typha ? [{ id: 'typha', ...typha } as const] : []), { id: 'controllers', ...controllers }];
}

function holdsNothing({ path }: Installation): Fault {
  return new Fault(
    'usage',
    `--until agents is not possible on an installation by ${path}: nothing is known by which its operator leaves Typha and the controllers as they are`,
    ['write --until controllers: all is new then, and the renaming of policies is held'],
  );
}

/** Of the agents that the upgrade begins with. */
export function typhaRefuses(context: Context, installation: Pick<Installation, 'release'>, record: RunRecord | undefined): boolean {
  const { profile, goal } = context;
  const since = profile.typhaRefusesAgentsBefore;
  const source = continues(record, context) ? record.intent.from : installation.release;
  return since !== undefined && crosses(source, goal.release, since);
}

const isHeldNow = ({ object }: Holdable): boolean => heldBy(object) !== undefined;

/** It is held by this program, now. */
export const isTyphaHeld = ({ all }: HoldFacts): boolean => all.some((one) => one.id === 'typha' && isHeldNow(one));

/** What a new operator will find held. */
function heldThen({ all, ignores }: HoldFacts): readonly Holdable[] {
  return all.filter((one) => isHeldNow(one) || (one.due && !isAnnotatedByUser(one.object, ignores)));
}

/** The same once it runs, where nothing more is held before the end of the run. */
function heldIn(facts: HoldFacts, starts: boolean): readonly Holdable[] {
  return starts || facts.keeps ? heldThen(facts) : facts.all.filter(isHeldNow);
}

/** The operator replaces now what was held. */
export const releasesHeld = (hold: HoldFacts | undefined): boolean => hold?.keeps === false && hold.all.some(isHeldNow);

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
  if (!hold?.keeps && !(hold && heldThen(hold).length > 0) && pace?.wanted === undefined) return undefined;
  const [until, nodes] = await Promise.all([readExpectation(sources, context, installation, imageOf), readNodes(sources)]);
  const behind = hold?.keeps === true && until.type === 'operator-end' && (await stillBringing(sources, partOf(until, hold)));
  return { until, nodes: nodes.length, behind };
}

const REF = 'domain §0.2';

/** Right before the operator is replaced. With `--until agents` also afterwards, as long as what is held is still the old one. */
export function holdWorkloads(facts: HoldFacts | undefined, starts: boolean): readonly Action[] {
  if (!facts || !(starts || facts.keeps)) return [];
  const { ignores, run, keeps } = facts;
  const open = heldThen(facts).filter(({ object }) => !isWhollyHeld(object, ignores));
  return open.map(({ id, object }) => ({
    id: `hold-${id}`,
    title: `hold ${refText(refOf(object))} at its release until ${keeps ? 'you continue' : 'every agent is upgraded'}`,
    ref: REF,
    undo: 'full',
    keep: { changes: [changeTo(object, { [ignoredAt(ignores)]: ignores.value })] },
    effect: { type: 'hold-workload', target: refOf(object), ignores, run },
  }));
}

/** The action that starts the new operator, which must find them held. */
export function onlyHeld(action: Action, facts: HoldFacts | undefined): Action {
  const targets = facts ? heldThen(facts).map(({ object }) => refOf(object)) : [];
  if (action.effect.type !== 'exec' || !facts || targets.length === 0) return action;
  const onlyIf = { type: 'workloads-held', targets, ignores: facts.ignores } as const;
  return { ...action, effect: { ...action.effect, onlyIf } satisfies Exec };
}

/** What the operator restarts now. */
export function withoutHeld(restarts: readonly PlannedRestart[], facts: HoldFacts | undefined): readonly PlannedRestart[] {
  const kept = new Set(facts?.keeps ? heldThen(facts).map(({ object }) => refText(refOf(object))) : []);
  return restarts.filter(({ ref }) => !kept.has(refText(ref)));
}

/** What is waited for while Typha is held. */
export interface HeldWait {
  readonly until: EndExpected;
  readonly nodes: number;
  /** With `--until agents`: not all but what is held is new. */
  readonly behind?: boolean;
}

/** Of a run that ends there, all else; of one that continues, the agents alone: Typha waits for nothing more. */
function partOf(until: OperatorExpected, hold: HoldFacts | undefined): OperatorExpected {
  return { ...until, part: hold?.keeps ? 'others' : 'agents' };
}

/** Once the new operator runs: all agents first, then their own pace again, and what was held. `wait` follows it by its image. */
export function afterAgents({ hold, pace }: Ahead, starts: boolean, wait: HeldWait | undefined, context: Context): readonly Action[] {
  const held = hold ? heldIn(hold, starts) : [];
  const isNeeded = hold?.keeps ? starts || wait?.behind === true : held.length > 0;
  return [
    ...(wait && (isNeeded || isPaced(pace, starts)) ? waitAgents(wait, hold, held, context) : []),
    ...returnPace(pace, starts),
    ...(hold && !hold.keeps ? releaseOf(hold, held) : []),
  ];
}

/** What an interrupted run left held, without waiting. */
export function releaseLeft(facts: HoldFacts | undefined): readonly Action[] {
  return facts ? releaseOf(facts, facts.all.filter(isHeldNow)) : [];
}

function releaseOf({ all, ignores }: HoldFacts, held: readonly Holdable[]): readonly Action[] {
  const due = all.filter((one) => held.includes(one) || one.copies.length > 0);
  return due.map(({ id, object }) => ({
    id: `release-${id}`,
    title: `release ${refText(refOf(object))}: the operator changes it now`,
    ref: REF,
    undo: 'full',
    effect: { type: 'release-workload', target: refOf(object), ignores },
  }));
}

function waitAgents(
  { until, nodes }: HeldWait,
  hold: HoldFacts | undefined,
  held: readonly Holdable[],
  { goal, options, profile: { operator } }: Context,
): readonly Action[] {
  if (until.type !== 'operator-end') return [];
  const timeoutMs = waitLimit(options, nodes, OPERATOR_MS);
  const waited: OperatorExpected = { ...partOf(until, hold), ...(held.some(({ id }) => id === 'typha') ? { holdsTypha: true } : {}) };
  const done = goal.takesBack ? 'put every agent back' : `upgraded every ${hold?.keeps ? 'other component' : 'agent'}`;
  const title = `wait until the operator has ${done} to ${goal.release}${meanwhile(held)}`;
  return [
    ...probeBetween(agentsOf(operator, until.target), { ...until, firstOf: agentsOf(operator, until.target) }, options, timeoutMs),
    { id: 'agents', title, ref: REF, undo: 'full', effect: { type: 'wait', until: waited, timeoutMs } },
  ];
}

function meanwhile(held: readonly Holdable[]): string {
  const names = held.map(({ id }) => (id === 'typha' ? 'Typha' : 'the controllers'));
  if (names.length === 0) return '';
  return `; ${names.join(' and ')} ${held.some(({ id }) => id === 'controllers') ? 'are' : 'is'} held meanwhile`;
}

/** For the plan of every path on which an operator replaces both. */
export function holdNote(facts: HoldFacts | undefined, starts: boolean): readonly string[] {
  const held = facts ? heldIn(facts, starts) : [];
  if (!facts || held.length === 0) return [];
  const { ignores, keeps } = facts;
  const names = held.map(({ object }) => refText(refOf(object))).join(' and ');
  const isThere = held.every(({ object }) => isWhollyHeld(object, ignores));
  const [verb, them] = held.length === 1 ? [isThere ? 'has' : 'gets', 'it'] : [isThere ? 'have' : 'get', 'them'];
  const until = keeps
    ? 'you continue. All else is new then, the v3 API server too'
    : 'every agent is upgraded, because Typha of the target refuses older agents';
  return [`${names} ${verb} the annotation ${ignores.annotation}: the operator does not change ${them} until ${until}`];
}
