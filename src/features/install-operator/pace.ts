import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { pointerTo, sameValue } from '../../kernel/json.ts';
import { apiVersionOf, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { PlannedRestart } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import { podsAtOnce } from '../../kube/judge-rollout.ts';
import { isOurs, isOverridden, isWhollyOurs, leftIn, type Paced, pacedIn, type Rolling, rollingIn, rollingText } from '../../kube/paced.ts';
import { hasSurge } from '../canary/index.ts';
import { areAgentsBehind } from './agents-behind.ts';
import { operatorEndNames } from './expectation.ts';

/** The Installation, from which the operator takes how many agents may be away at a time. */
export interface PaceFacts {
  readonly live: KubeObject;
  /** Where it says so. */
  readonly path: readonly string[];
  /** What this program has set for a while. */
  readonly own: Paced | undefined;
  /** What this run is to set, and what comes back then. */
  readonly wanted: Paced | undefined;
  /** Agents are not of the target yet. */
  readonly behind: boolean;
}

const REF = '§4.3/2';

/** Undefined where this program sets none here and has set none. Throws Fault('usage') where `--max-unavailable` would have no effect. */
export async function readPace(
  sources: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
): Promise<PaceFacts | undefined> {
  const { profile, options, goal } = context;
  const { agentStrategy: strategy, installationKind: kind } = profile.operator;
  const { maxUnavailable } = options;
  const isKnown = strategy !== undefined && operatorEndNames(profile, installation.operator, goal.release) !== undefined;
  if (!isKnown) {
    if (maxUnavailable !== undefined) throw unknownPlace(installation);
    return undefined;
  }
  const all = (await sources.cluster.list({ ...kind, namespaced: false })).map((one) => ({
    ...one,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
  }));
  const [live, other] = ['default', 'overlay'].map((name) => all.find(({ metadata }) => metadata.name === name));
  const path = ['spec', ...strategy, 'rollingUpdate'];
  const own = live && (pacedIn(live) ?? leftIn(live, path));
  if (!live || (!own && maxUnavailable === undefined)) return undefined;
  if (other && maxUnavailable !== undefined && rollingIn(other, ['spec', ...strategy])) throw overlaid(other, strategy);
  const former = own ? own.former : rollingIn(live, path);
  const behind = maxUnavailable !== undefined && (await areAgentsBehind(sources.cluster, context, installation));
  return { live, path, own, wanted: maxUnavailable === undefined ? undefined : pacedWith(former, maxUnavailable), behind };
}

/** The server takes one of the two. */
function pacedWith(former: Rolling, maxUnavailable: number | string): Paced {
  const ours = { ...former, maxUnavailable, ...(hasSurge({ rollingUpdate: former }) ? { maxSurge: 0 } : {}) };
  return former === undefined ? { ours } : { former, ours };
}

function unknownPlace({ path }: Installation): Fault {
  return new Fault(
    'usage',
    `--max-unavailable is not possible on an installation by ${path}: where its operator takes the pace from is not known`,
    ['leave it out'],
  );
}

function overlaid(other: KubeObject, strategy: readonly string[]): Fault {
  return new Fault(
    'usage',
    `--max-unavailable has no effect: ${refText(refOf(other))} sets spec.${strategy.join('.')}, which the operator puts over it`,
    ['leave it out, or set maxUnavailable there'],
  );
}

/** Somebody has set another value since: theirs counts. */
const isTheirs = ({ live, path, own }: PaceFacts): boolean => own !== undefined && isOverridden(live, path, own);

/** Agents are replaced at the pace of this run. `starts`: another operator is started now. */
export function isPaced(facts: PaceFacts | undefined, starts: boolean): facts is PaceFacts {
  return facts?.wanted !== undefined && (starts || facts.behind);
}

/** Right before the operator that replaces them starts, or right after where something else would write over it. */
export function setPace(facts: PaceFacts | undefined, starts: boolean): readonly Action[] {
  if (!isPaced(facts, starts) || !facts.wanted || isTheirs(facts)) return [];
  const { live, path, own, wanted } = facts;
  if (own && sameValue(own.ours, wanted.ours)) return [];
  const target = refOf(live);
  return [
    {
      id: 'pace',
      title: `set maxUnavailable of ${refText(target)} to ${rollingText(wanted.ours)} while the agents are replaced`,
      ref: REF,
      undo: 'full',
      keep: { changes: [changeOf(facts, wanted.former, wanted.ours)] },
      effect: { type: 'pace-agents', target, path, paced: wanted },
    },
  ];
}

/** Once all agents are replaced, or nobody asks for it any more. */
export function returnPace(facts: PaceFacts | undefined, starts: boolean): readonly Action[] {
  const paced = facts && (facts.own ?? (isPaced(facts, starts) ? facts.wanted : undefined));
  if (!facts || !paced) return [];
  const { live, path } = facts;
  const target = refOf(live);
  const title = isTheirs(facts)
    ? `leave maxUnavailable of ${refText(target)}, which somebody has set to ${rollingText(rollingIn(live, path))}`
    : `give ${refText(target)} its own maxUnavailable again: ${rollingText(paced.former)}`;
  return [
    {
      id: 'pace-back',
      title,
      ref: REF,
      undo: 'full',
      keep: { changes: [changeOf(facts, paced.ours, paced.former)], undo: true },
      effect: { type: 'unpace-agents', target, path, former: paced.former },
    },
  ];
}

/** Before what would take our value for somebody's. */
export const returnOwnPace = (facts: PaceFacts | undefined): readonly Action[] => (facts?.own ? returnPace(facts, false) : []);

/** As it is then. */
export const withoutOwnPace = (facts: PaceFacts | undefined): PaceFacts | undefined => facts && { ...facts, own: undefined };

function changeOf({ live, path }: PaceFacts, before: Rolling, after: Rolling) {
  const places = (value: Rolling) => (value === undefined ? {} : { [pointerTo(...path)]: value });
  return { ref: refOf(live), before: places(before), after: places(after) };
}

/** For the plan. */
export function paceNotes(facts: PaceFacts | undefined, starts: boolean): readonly string[] {
  if (!facts || !(facts.own || isPaced(facts, starts))) return [];
  const { live, own, wanted } = facts;
  const of = refText(refOf(live));
  if (isTheirs(facts)) return [`maxUnavailable of ${of} was set by this program, and by somebody since: that value is left`];
  const paced = isPaced(facts, starts) ? wanted : undefined;
  if (!paced) return [`maxUnavailable of ${of}: ${rollingText(own?.former)} again`];
  return [
    `maxUnavailable of ${of}: ${rollingText(paced.former)} → ${rollingText(paced.ours)} while the agents are replaced, put back afterwards`,
  ];
}

/** Field of a resource that is ours for a while: nobody else has decided it. */
export function isOwnPace(facts: PaceFacts | undefined, ref: { readonly kind: string; readonly name: string }, path: string): boolean {
  if (!facts?.own || isTheirs(facts)) return false;
  const { kind, metadata } = facts.live;
  const place = facts.path.join('.');
  const isIt = ref.kind === kind && ref.name === metadata.name;
  if (path === place) return isIt && isWhollyOurs(facts.live, facts.path, facts.own);
  return isIt && path.startsWith(`${place}.`) && isOurs(facts.own, path.slice(place.length + 1));
}

/** The agents among what restarts, at the pace of this run. */
export function atPace(
  restarts: readonly PlannedRestart[],
  facts: PaceFacts | undefined,
  { profile: { operator } }: Pick<Context, 'profile'>,
): readonly PlannedRestart[] {
  const paced = facts?.wanted;
  if (!paced || isTheirs(facts)) return restarts;
  const { kind, namespace, name } = operator.agent;
  return restarts.map((one) => {
    if (one.ref.kind !== kind || one.ref.name !== name || one.ref.namespace !== namespace) return one;
    const spec = { updateStrategy: { rollingUpdate: paced.ours } };
    const atOnce = podsAtOnce({ apiVersion: 'apps/v1', kind, metadata: { name }, spec }, one.pods);
    return atOnce === undefined ? one : { ...one, atOnce };
  });
}
