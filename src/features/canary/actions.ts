import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted, timeText } from '../../kernel/counted.ts';
import type { ObjectChange } from '../../kernel/object.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { HOOKS } from '../../kernel/user-command.ts';
import { type HeldFor, heldIn, rolloutUntil, waitLimit } from '../rollout/index.ts';
import { agentsText, isOrAre, nodesText } from './choice.ts';
import type { Driven } from './driver.ts';
import type { CanaryFacts } from './facts.ts';
import { NEW_PODS_MS } from './last-look.ts';
import { strategyIn } from './own-strategy.ts';

const REF = '§4.4/3';

/** What is done and waited for while all agents but those of a canary are held. */
export function isOfCanary(action: Action): boolean {
  return heldIn(action)?.for === 'canary';
}

/** The nodes of the canary in a plan; none where it has no part of one. */
export function chosenIn(actions: readonly Action[]): readonly string[] {
  const nodes = actions.flatMap(({ effect }) => {
    if (effect.type === 'stop-canary') return effect.nodes;
    const { heldFor, only = [] } = effect.type === 'wait' && effect.until.type === 'rollout' ? effect.until : {};
    return heldFor === 'canary' ? only : [];
  });
  return [...new Set(nodes)];
}

/** The agents of the canary, as many at a time as the DaemonSet itself would replace, each waited for. */
export function canaryActions(facts: CanaryFacts, agents: ObjectChange['ref'], atOnce: number, context: Context): readonly Action[] {
  const { nodes, old } = facts;
  if (old.length === 0) return [waitAction('canary', facts.target, nodes, context, { heldFor: 'canary' })];
  const done = nodes.filter((node) => !old.includes(node));
  const title = `replace ${agentsText(old)}, and wait until ${old.length === 1 ? 'it is' : 'they are'} ready`;
  return [replaceAction('canary', title, facts, { agents, nodes: old, done, atOnce, heldFor: 'canary' }, context)];
}

/** All other agents, where this program replaces them itself; `isFirst`: no other was replaced before. */
export function replaceOthers(
  facts: Pick<CanaryFacts, 'target' | 'selector'>,
  { isFirst = false, ...others }: Pick<Driven, 'agents' | 'nodes' | 'atOnce'> & { readonly isFirst?: boolean },
  context: Context,
): Action {
  const { nodes, atOnce } = others;
  const driven = { ...others, heldFor: 'rest' } as const;
  const which = nodes === undefined ? (isFirst ? 'the agents' : 'the other agents') : agentsText(nodes);
  const title = `replace ${which}, ${counted(atOnce, 'node')} at a time, and wait for each`;
  return replaceAction(nodes === undefined ? 'replace-others' : 'replace-first', title, facts, driven, context);
}

/** A drain may take its time. */
const HOOK_MS = 600_000;

function replaceAction(
  id: string,
  title: string,
  { target, selector }: Pick<CanaryFacts, 'target' | 'selector'>,
  driven: Omit<Driven, 'hooks' | 'hookMs' | 'isStrict'>,
  { options }: Context,
): Action {
  const { maxFailed, userCommands = [] } = options;
  const timeoutMs = waitLimit(options, driven.atOnce);
  const hooks = HOOKS.filter((name) => userCommands.includes(name));
  const hookMs = options.timeoutMs ?? HOOK_MS;
  const isStrict = options.probeNetwork?.isStrict === true;
  const effect = { type: 'replace-agents', ...driven, target, selector, maxFailed, timeoutMs, hooks, hookMs, isStrict } as const;
  return { id, title, ref: REF, undo: 'partial', effect };
}

interface Watching {
  readonly holdMs?: number;
  readonly heldFor?: HeldFor;
  readonly isJudged?: true;
}

function waitAction(id: string, target: RolloutTarget, only: readonly string[], { options }: Context, watching: Watching): Action {
  const { holdMs } = watching;
  const until = { ...rolloutUntil([target], options), only, ...watching } as const;
  const timeoutMs = waitLimit(options, only.length) + (holdMs ?? 0);
  const what =
    holdMs === undefined
      ? `wait until ${agentsText(only)} ${isOrAre(only)} ready`
      : `watch ${only.length === 0 ? 'all new agents' : agentsText(only)} for ${timeText(holdMs)}`;
  const watch = holdMs === undefined ? {} : { watchMs: holdMs };
  return { id, title: what, ref: REF, undo: 'full', ...watch, effect: { type: 'wait', until, timeoutMs } };
}

/** The time in which nothing may go wrong; the clock starts again in a resumed run. */
export function soakAction({ target, nodes }: Pick<CanaryFacts, 'target' | 'nodes'>, holdMs: number, context: Context): Action {
  return waitAction('soak', target, nodes, context, { holdMs, heldFor: 'canary' });
}

/** Two of its runs, each of up to 10 s, behind one that is at work as the agents are ready. Milliseconds. */
const PROBED_MS = 30_000;

/** Without a soak: the probe is heard as well, which stops the run once it has failed twice. */
export function probedAction({ target, nodes }: Pick<CanaryFacts, 'target' | 'nodes'>, context: Context): readonly Action[] {
  if (!context.options.userCommands?.includes('probe')) return [];
  // It is no soak: nothing follows by itself.
  const { watchMs: _, ...action } = waitAction('probed', target, nodes, context, { holdMs: PROBED_MS, heldFor: 'canary' });
  return [{ ...action, title: `see that --probe passes beside ${agentsText(nodes)} for ${timeText(PROBED_MS)}` }];
}

/** What a soak may have been too short for: pods that were refused a network while the agents were replaced are tried again only later. */
export function lookAction(
  { target, selector }: Pick<CanaryFacts, 'target' | 'selector'>,
  nodes: readonly string[],
  { options: { maxFailed } }: Context,
): Action {
  const until = { type: 'new-pods', namespace: target.namespace, selector, nodes, maxFailed } as const;
  const title = `see that new pods on ${nodesText(nodes)} get a network`;
  return { id: 'look-canary', title, ref: REF, undo: 'full', effect: { type: 'wait', until, timeoutMs: NEW_PODS_MS } };
}

/** The same of all agents, once they are new and Typha has rolled. */
export function secondSoakAction(target: RolloutTarget, holdMs: number, context: Context): Action {
  return { ...waitAction('soak-typha', target, [], context, { holdMs }), once: true };
}

/** New agents of a held DaemonSet are ready, whoever replaced them, and all of a canary: then the others follow. */
export function judgeAction(target: RolloutTarget, context: Context, canary?: CanaryFacts): Action {
  const watching = { heldFor: canary ? 'canary' : 'rest', isJudged: true } as const;
  return { ...waitAction('judge', target, canary?.nodes ?? [], context, watching), title: 'see that every agent replaced so far is ready' };
}

/** What comes after the canary: the strategy that is the user's or the release's, or the pace of this run. */
export function rollAction(change: ObjectChange, staysOurs: boolean): Action {
  return {
    id: 'roll-agents',
    title: 'let the DaemonSet replace the other agents',
    ref: REF,
    undo: 'partial',
    keep: { changes: [change], ...(staysOurs ? {} : { undo: true }) },
    effect: { type: 'roll-agents', agents: change.ref, strategy: strategyIn(change.after), staysOurs },
  };
}

/** The end of a run with a canary that nobody waits for. */
export function stopAction(
  { target, nodes, before, selector, of: all }: CanaryFacts,
  agents: ObjectChange['ref'],
  { goal, options }: Context,
): Action {
  const { maxFailed } = options;
  const [back, timeoutMs] = [goal.takesBack ? { back: all } : {}, waitLimit(options, nodes.length)];
  const of = { agents, target, nodes, before, ...back, release: goal.release, selector, maxFailed, timeoutMs };
  return { id: 'stop', title: 'stop for you', ref: REF, undo: 'full', effect: { type: 'stop-canary', ...of } };
}
