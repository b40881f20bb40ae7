import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import { type KubeObject, type ObjectChange, refOf, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Variant } from '../../kernel/profile.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { continues, type RunRecord } from '../../kernel/run-record.ts';
import { text } from '../../kernel/step.ts';
import { podsAtOnce, podsAway } from '../../kube/judge-rollout.ts';
import { type ManifestDocument, manifestText } from '../../manifest/manifest.ts';
import {
  type AgentFacts,
  type CanaryFacts,
  goesBack,
  held,
  isDriven,
  isHeld,
  isMarked,
  isOnDelete,
  isStillHeld,
  liveStrategyText,
  type OwnStrategies,
  ownStrategyOf,
  paced,
  readAgents,
  readCanary,
  readOwnStrategies,
  refuseOnDelete,
  refuseOver,
  strategyChange,
  withoutOwn,
} from '../canary/index.ts';
import { neededTarget, readRollouts } from '../rollout/index.ts';
import { isWorkload } from './identity.ts';
import { leftoversIn, type MergedTarget } from './merged.ts';
import { changesPods, type PreviewedObject } from './outcome.ts';
import { previewDocument } from './preview.ts';

/** How the DaemonSet of the agents differs from the target until every agent is new, and what puts it right. */
export interface AgentStep {
  /** As the target has it, which is applied in the end. */
  readonly document: ManifestDocument;
  /** `on`: applied with a strategy of this run; `over`: that is there, and goes. */
  readonly state: 'on' | 'over';
  /** What is changed in its strategy now, for the run record. */
  readonly change: ObjectChange;
  /** What is changed back in the end. */
  readonly back: ObjectChange;
  /** With `--canary`, until the rest follows. */
  readonly canary?: CanaryStep;
  /** This program replaces the agents itself, as many at a time. */
  readonly driven?: DrivenStep;
}

/** The agents of a DaemonSet that this program holds, before others follow: it is let go, or the others are replaced by the run. */
export interface HeldAgents extends Pick<CanaryFacts, 'target' | 'selector'> {
  /** Those whose agent is new, none where the template changes once more. */
  readonly nodes: readonly string[];
}

export interface CanaryStep extends CanaryFacts {
  /** What lets the rest follow: to the own strategy, or to the pace of this run. */
  readonly next: ObjectChange;
  /** `next` is for this run alone. */
  readonly isPaced: boolean;
  /** Agents that may be unavailable at a time. */
  readonly atOnce: number;
}

export interface DrivenStep extends AgentFacts {
  readonly atOnce: number;
}

/** What is applied now: the previews, with the agents as they are for a while. */
export interface Stepped {
  readonly previews: readonly PreviewedObject[];
  readonly step?: AgentStep;
  readonly heldAgents?: HeldAgents;
}

/** The agents' DaemonSet as it is, as it will be, and its document in the target. */
interface Agents {
  readonly live: KubeObject;
  readonly result: KubeObject;
  readonly preview: PreviewedObject;
  readonly document: ManifestDocument;
  readonly target: RolloutTarget;
  readonly own: OwnStrategies;
}

/** A strategy of the agents that only this run needs is in what is applied, not in the target. */
export async function readAgentStep(
  sources: Sources,
  context: Context,
  variant: Variant,
  merged: Pick<MergedTarget, 'target' | 'previews'>,
  record: RunRecord | undefined,
): Promise<Stepped> {
  const { previews } = merged;
  const agents = agentsIn(
    merged,
    variant,
    await readOwnStrategies(
      sources.records,
      record,
      context,
      previews.flatMap(({ live }) => live ?? []),
    ),
  );
  if (!agents) return { previews };
  const wanted = (await isAhead(sources, context, agents)) ? wantedOf(agents, context) : undefined;
  const isMore = previews.some((one) => one !== agents.preview && changesPods(one.planned));
  if (!(wanted && isHeld(wanted))) await refuseOver(sources.records, record, context, isMore);
  if (!wanted) {
    const step = overOf(agents);
    return withHeld(sources, context, agents, { previews, ...(step ? { step } : {}) });
  }
  const now = await previewDocument(sources.cluster, wanted, [], leftoversIn(context));
  if (now.result) refuseOtherStrategy(wanted, now.result);
  const recorded = (continues(record, context) && record.canary) || [];
  const found = await stepped(sources, context, agents, {
    now,
    previews: previews.map((one) => (one === agents.preview ? now : one)),
    plain: previews,
    recorded,
  });
  return withHeld(
    sources,
    context,
    { ...agents, recorded, ...(found.step ? { preview: now, result: now.result ?? now.document } : {}) },
    found,
  );
}

function agentsIn(
  { target, previews }: Pick<MergedTarget, 'target' | 'previews'>,
  { agent }: Variant,
  own: OwnStrategies,
): Agents | undefined {
  const preview = previews.find(({ document }) => isWorkload(document, agent));
  const document = target.manifest.documents.find(({ object }) => object === preview?.document);
  const found = document && neededTarget(agent, { documents: [document.object] });
  const { live, result } = preview ?? {};
  return preview && live && result && document && found ? { live, result, preview, document, target: found, own } : undefined;
}

/** A canary comes before a pace. It is over where the DaemonSet rolls the new template already, not where only our mark was removed. */
function wantedOf({ document, preview, live }: Agents, context: Context): KubeObject | undefined {
  refuseOnDelete(document.object, context);
  const isBefore = context.options.canary !== undefined && (changesPods(preview.planned) || isOnDelete(live));
  return isBefore || isDriven(context) ? held(document.object, context.goal) : paced(document.object, context);
}

async function stepped(
  sources: Sources,
  context: Context,
  agents: Agents,
  {
    now,
    previews,
    plain,
    recorded,
  }: {
    readonly now: PreviewedObject;
    readonly previews: readonly PreviewedObject[];
    readonly plain: readonly PreviewedObject[];
    readonly recorded: readonly string[];
  },
): Promise<Stepped> {
  const { live, result: last, document, own } = agents;
  const result = now.result ?? now.document;
  const back = strategyChange(result, last);
  // Somebody who removed our mark left the strategy, which would otherwise be as it should be.
  const change = strategyChange(withoutOwn(live, own, document.object), result) ?? strategyChange(last, result);
  if (!change || !back) return { previews: plain };
  const { restarts, ...held } = isHeld(result) ? await heldStep(sources, context, { ...agents, recorded }, result) : {};
  const applied = previews.map((one) => (one === now && restarts ? restarting(now, restarts) : one));
  return { previews: applied, step: { document, state: 'on', change, back, ...held } };
}

/** Pods that are replaced, and how many at a time. */
interface Restarts {
  readonly pods: number;
  readonly atOnce: number | undefined;
  /** The template is there already. */
  readonly note?: string;
}

function restarting(now: PreviewedObject, { pods, atOnce, note }: Restarts): PreviewedObject {
  const { restarts: _, ...planned } = now.planned;
  const more = { restarts: pods, ...(atOnce === undefined ? {} : { atOnce }), ...(note === undefined ? {} : { note }) };
  return { ...now, planned: pods === 0 ? planned : { ...planned, ...more } };
}

/** Those whose agents were held until now. */
function heldBack(found: AgentFacts, atOnce: number | undefined): Restarts {
  const pods = found.agents.filter(({ isNew }) => !isNew).length;
  return { pods, atOnce, note: `restarts ${counted(pods, 'pod')}, held until now` };
}

/** Throws Fault('usage') where `--canary` names no nodes that can be evaluated. */
async function heldStep(
  sources: Sources,
  context: Context,
  { live, result, target, preview, recorded }: Agents & { readonly recorded: readonly string[] },
  now: KubeObject,
): Promise<Pick<AgentStep, 'canary' | 'driven'> & { readonly restarts?: Restarts }> {
  const { canary: text, soakMs } = context.options;
  const found = await readAgents(sources, live, target, changesPods(preview.planned));
  const pace = paced(result, context);
  const atOnce = podsAway(pace ?? result, found.agents.length);
  const all = found.isChanging ? { pods: preview.planned.restarts ?? 0, atOnce } : heldBack(found, atOnce);
  const driven = isDriven(context) ? { driven: { ...found, atOnce } } : {};
  const next = strategyChange(now, pace ?? result);
  if (text === undefined || !next) return { ...driven, restarts: all };
  const canary = {
    ...(await readCanary(sources, context, found, recorded)),
    next,
    isPaced: pace !== undefined,
    atOnce,
  };
  // A run that stops after its canary restarts no other agent.
  return { canary, ...driven, restarts: soakMs === undefined ? { pods: canary.old.length, atOnce } : all };
}

/** The run that needed it has ended, or the agents are all new. */
function overOf({ live, result, document, own }: Agents): AgentStep | undefined {
  const back = ownStrategyOf(live, own) && strategyChange(live, result);
  return back && { document, state: 'over', change: back, back };
}

/**
 * What there is of agents that are held already, where others are to follow, whatever else becomes of the strategy. Of the held template nothing
 * follows where a rollback installs another.
 */
async function withHeld(
  sources: Sources,
  { goal }: Context,
  { live, preview, result, target, own, recorded = [] }: Agents & { readonly recorded?: readonly string[] },
  found: Stepped,
): Promise<Stepped> {
  const [isBack, isChanging] = [goal.takesBack !== undefined, changesPods(preview.planned)];
  const { canary, driven } = found.step ?? {};
  if (!isStillHeld(live, own) || canary || (isBack && isChanging)) return found;
  const isLetGo = !isHeld(result);
  if (isChanging) return isLetGo ? { ...found, heldAgents: { target, selector: '', nodes: [] } } : found;
  const agents = driven ?? (await readAgents(sources, live, target, false));
  const nodes = agents.agents.filter((one) => one.isNew && (!isBack || goesBack(one))).map(({ node }) => node.metadata.name);
  // Where commands are run around each node, the first may still be to come.
  if (!isLetGo && nodes.length === 0 && recorded.length === 0) return found;
  const restarts = heldBack(agents, podsAtOnce(result, agents.agents.length));
  const previews = isLetGo ? found.previews.map((one) => (one === preview ? restarting(one, restarts) : one)) : found.previews;
  return { ...found, previews, heldAgents: { target, selector: agents.selector, nodes } };
}

/** Throws Fault('blocked') where agents would be replaced otherwise than asked for: somebody changes it, or what says that it is ours. */
function refuseOtherStrategy(asked: KubeObject, stored: KubeObject): void {
  const [wanted, got] = [liveStrategyText(asked), liveStrategyText(stored)];
  // What is left of another type beside it has no effect.
  const isAsAsked = isOnDelete(asked) ? isOnDelete(stored) : wanted === got;
  if (isAsAsked && isMarked(stored)) return;
  const fact = isAsAsked
    ? 'asked for an annotation that says whose the update strategy is, the API server would not store it'
    : `asked for the update strategy ${wanted}, the API server would store ${got}`;
  throw new Fault('blocked', `${refText(refOf(asked))}: ${fact}`, [
    text`an admission rule changes it: a MutatingAdmissionPolicy, or one of ${command`kubectl get mutatingwebhookconfigurations`}`,
    'leave the DaemonSet out of that rule until the upgrade is over',
  ]);
}

/** Pods are still to be replaced; those that are on their way need nothing of it any more. */
async function isAhead(sources: Sources, { options }: Context, { preview, target }: Agents): Promise<boolean> {
  if (options.canary === undefined && options.maxUnavailable === undefined && !isDriven({ options })) return false;
  if (changesPods(preview.planned)) return true;
  const [agents] = await readRollouts(sources, [target], []);
  return agents?.pods.some(({ phase }) => phase === 'old') === true;
}

/** The documents of the target with the agents as they are applied now. */
export function steppedDocuments(documents: readonly ManifestDocument[], { previews, step }: Stepped): readonly ManifestDocument[] {
  if (step?.state !== 'on') return documents;
  const { kind, metadata } = step.document.object;
  const now = previews.find(({ document }) => document.kind === kind && document.metadata.name === metadata.name)?.document;
  return documents.map((one) => (one === step.document && now ? { ...one, object: now, text: manifestText([now]) } : one));
}
