import type { Action } from '../../kernel/action.ts';
import { serverSideApply } from '../../kernel/argv.ts';
import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted, firstOf, timeText } from '../../kernel/counted.ts';
import { objectKey, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { type Said, text } from '../../kernel/step.ts';
import { documentsText } from '../../manifest/manifest.ts';
import type { Wave } from '../../manifest/waves.ts';
import {
  agentsText,
  type CanaryFacts,
  canaryActions,
  drivenBy,
  hasSurge,
  isOfStrategy,
  isOrAre,
  judgeAction,
  lookAction,
  nodesText,
  probedAction,
  replaceOthers,
  rollAction,
  soakAction,
  stopAction,
  strategyIn,
  strategyText,
} from '../canary/index.ts';
import { takesPods } from '../network-probe/index.ts';
import type { AgentStep, DrivenStep } from './agent-step.ts';
import type { ApplyFacts } from './apply-facts.ts';

/** The step of the agents, if this wave has them. */
export function stepIn({ documents }: Wave, { step }: ApplyFacts): AgentStep | undefined {
  const key = step && objectKey(step.document.object);
  return documents.some(({ object }) => objectKey(object) === key) ? step : undefined;
}

/** Nothing else of the object is to be changed. */
export function isOnlyStrategy({ fields }: PlannedObject): boolean {
  return fields.length > 0 && fields.every(({ path }) => isOfStrategy(path));
}

/** The action that does it. */
export const PUT_BACK = 'strategy';

/** The agents as the target has them, once all of them are new: what a user or the release had set comes back. */
export function putBack({ document, back }: AgentStep, { file }: Wave, { workFolder }: Context): readonly Action[] {
  const own = file.replace(/\.yaml$/, '-strategy.yaml');
  const common = { ref: '§4.4/2', undo: 'full' } as const;
  return [
    { id: 'file-strategy', title: `write ${own}`, ...common, effect: { type: 'write', file: own, content: documentsText([document]) } },
    {
      id: PUT_BACK,
      title: `give ${refText(back.ref)} its own update strategy again: ${strategyText(back.after)}`,
      ...common,
      afresh: true,
      keep: { changes: [back], undo: true },
      effect: { type: 'exec', run: serverSideApply(`${workFolder}/${own}`), canAsk: true },
    },
  ];
}

/** What follows the apply of the agents: their rollout, or the canary before it. */
export function afterApply(step: AgentStep | undefined, wave: Wave, rollout: Rollout, context: Context): readonly Action[] {
  const { wait, probe, see } = rollout;
  const back = step?.state === 'on' ? putBack(step, wave, context) : [];
  if (!step?.canary) return [...(step?.driven ? drivenActions(step, step.driven, probe, context) : probe), ...wait, ...back];
  const { canary, driven, change } = step;
  const first = [...canaryActions(canary, change.ref, canary.atOnce, context), ...probe];
  const { soakMs } = context.options;
  if (soakMs === undefined) return [...first, ...probedAction(canary, context), ...see, stopAction(canary, change.ref, context)];
  const rest = driven
    ? replaceOthers(driven, { agents: change.ref, atOnce: driven.atOnce }, context)
    : rollAction(canary.next, canary.isPaced);
  const isOurs = driven !== undefined || canary.isPaced;
  // The looks before it take their time, in which nobody watches the agents.
  const judged = judgeAction(canary.target, context, canary);
  const fresh = [...canary.nodes, ...canary.before, ...canary.others];
  const watched = [soakAction(canary, soakMs, context), ...see, lookAction(canary, fresh, context), judged];
  return [...first, ...watched, rest, ...wait, ...(isOurs ? back : [])];
}

/**
 * Where Jobs probe the network of the first new agent, it is replaced alone: on a node where they can run. One that is new there already, of
 * a run that was interrupted or failed, is probed before any other is replaced.
 */
function drivenActions({ change }: AgentStep, driven: DrivenStep, probe: readonly Action[], context: Context): readonly Action[] {
  const { atOnce, agents } = driven;
  const othersOf = (isFirst: boolean) => replaceOthers(driven, { agents: change.ref, atOnce, isFirst }, context);
  const usable = agents.filter(({ node }) => takesPods(node));
  const [first] = usable;
  if (probe.length === 0 || !first) return [othersOf(!agents.some(({ isNew }) => isNew)), ...probe];
  const others = othersOf(false);
  if (usable.some(({ isNew }) => isNew)) return [...probe, others];
  return [replaceOthers(driven, { agents: change.ref, atOnce: 1, nodes: [first.node.metadata.name] }, context), ...probe, others];
}

/** The waits for the workloads of a wave, and the probe between the first agent and the others. */
export interface Rollout {
  readonly probe: readonly Action[];
  readonly wait: readonly Action[];
  /** Before the agents are applied: what is kept meanwhile. */
  readonly keep: readonly Action[];
  /** What the verdict on a canary takes in besides. */
  readonly see: readonly Action[];
}

/** The run ends with its canary, or with the agents: what comes after this wave is not performed. */
export function stopsIn(wave: Wave, facts: ApplyFacts, { options }: Context): boolean {
  if (options.until === 'agents' && wave.id === 'agents') return true;
  return options.soakMs === undefined && stepIn(wave, facts)?.canary !== undefined;
}

/** For the plan: what is only for a while. */
export function stepNotes({ step }: ApplyFacts, context: Context): readonly Said[] {
  if (!step) return [];
  const { state, change, back, canary, driven } = step;
  const own = strategyText(back.after);
  const hooks = drivenBy(context)
    .map((name) => `--${name}`)
    .join(', ');
  const drivenNotes = driven
    ? [
        `this run replaces the agents itself, ${counted(driven.atOnce, 'node')} at a time, because of ${hooks}; the DaemonSet gets ${own} again at the end`,
      ]
    : [];
  const surgeNotes = hasSurge(strategyIn(back.after)) ? [NO_SURGE] : [];
  if (canary) return [...canaryNotes(canary, context.options.soakMs), ...drivenNotes, ...surgeNotes];
  if (driven) return [...drivenNotes, ...surgeNotes];
  const text = state === 'on' ? `${strategyText(change.after)} while its pods are replaced, then ${own} again` : `${own} again`;
  return [`update strategy of ${refText(change.ref)}: ${text}`];
}

const NO_SURGE = 'without maxSurge meanwhile: a node has no agent until its new one is ready';

/** A plan shows what is chosen; `-o json` has what is more. */
const SHOWN = 50;

function canaryNotes({ nodes, before, others, of }: CanaryFacts, soakMs: number | undefined): readonly Said[] {
  const earlier = before.length === 0 ? '' : `, besides ${agentsText(before)}, which this run replaced before`;
  const how = soakMs === undefined ? 'joined' : 'were replaced later, joined,';
  const apart = others.length === 0 ? '' : `; new already on ${nodesText(others)}, which ${how} or whose agent was deleted`;
  const then =
    soakMs === undefined
      ? text`Then the run stops for you. To continue: ${command`kubectl netsvc-upgrade commit`}`
      : text`They are watched for ${timeText(soakMs)}, then the others follow`;
  return [
    text`canary: only the agent${nodes.length === 1 ? '' : 's'} of ${firstOf(nodes, SHOWN)} ${isOrAre(nodes)} replaced first (${nodes.length} of ${of})${earlier}${apart}. ${then}`,
    'until then the update strategy of the agents is OnDelete: new nodes, and agents that somebody deletes, get the release that the run installs',
  ];
}
