import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { timeText } from '../../kernel/counted.ts';
import type { ObjectChange } from '../../kernel/object.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { defaultWaitMs } from '../rollout/index.ts';
import { nodesText } from './choice.ts';
import type { CanaryFacts, OldAgent } from './facts.ts';
import { strategyIn } from './own-strategy.ts';

const REF = '§4.4/3';

/** The agents of the canary, as many at a time as the DaemonSet itself would replace, each waited for. */
export function canaryActions(facts: CanaryFacts, agents: ObjectChange['ref'], atOnce: number, context: Context): readonly Action[] {
  const groups = groupsOf(facts.old, atOnce);
  const done = facts.nodes.filter((node) => !facts.old.some((one) => one.node === node));
  const steps = groups.flatMap((group, index) => [
    ...group.map(
      ({ node, pod }): Action => ({
        id: `replace-${node}`,
        title: `replace the agent of ${node}`,
        ref: REF,
        undo: 'partial',
        effect: { type: 'replace-agent', agents, node, pod },
      }),
    ),
    waitAction(
      `canary-${index + 1}`,
      facts.target,
      [
        ...done,
        ...groups
          .slice(0, index + 1)
          .flat()
          .map(({ node }) => node),
      ],
      context,
    ),
  ]);
  return groups.length > 0 ? steps : [waitAction('canary-1', facts.target, facts.nodes, context)];
}

function groupsOf(old: readonly OldAgent[], size: number): readonly (readonly OldAgent[])[] {
  return Array.from({ length: Math.ceil(old.length / size) }, (_, index) => old.slice(index * size, (index + 1) * size));
}

function waitAction(id: string, target: RolloutTarget, only: readonly string[], { options }: Context, holdMs?: number): Action {
  const until = {
    type: 'rollout',
    targets: [target],
    maxFailed: options.maxFailed,
    only,
    ...(holdMs === undefined ? {} : { holdMs }),
  } as const;
  const timeoutMs = (options.timeoutMs ?? defaultWaitMs(only.length)) + (holdMs ?? 0);
  const what =
    holdMs === undefined
      ? `wait until the agents of ${nodesText(only)} are ready`
      : `watch the agents of ${nodesText(only)} for ${timeText(holdMs)}`;
  return { id, title: what, ref: REF, undo: 'full', effect: { type: 'wait', until, timeoutMs } };
}

/** The time in which nothing may go wrong; the clock starts again in a resumed run. */
export function soakAction({ target, nodes }: Pick<CanaryFacts, 'target' | 'nodes'>, ms: number, context: Context): Action {
  return waitAction('soak', target, nodes, context, ms);
}

/** New agents of a held DaemonSet are ready, whoever replaced them: then the others follow. */
export function judgeAction(target: RolloutTarget, context: Context): Action {
  return { ...waitAction('judge', target, [], context), title: 'see that every new agent is ready' };
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
export function stopAction({ nodes, others, of }: CanaryFacts, agents: ObjectChange['ref'], { goal }: Context): Action {
  const title = 'stop for you';
  return {
    id: 'stop',
    title,
    ref: REF,
    undo: 'full',
    effect: { type: 'stop-canary', agents, nodes, others, of, release: goal.release },
  };
}
