import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import { seeWhy, text } from '../../kernel/step.ts';
import { judgePod } from '../../kube/judge-pod.ts';
import { canaryView, HELD_ON, type HeldFor } from './canary-view.ts';
import type { Board } from './rollout-board.ts';

/**
 * Before all other agents follow: what has the image of the target counts, also where somebody has changed the template since. Not of a lost
 * node, which may be one that nobody touched; and done only once an agent is new.
 */
export function judgedView(
  progress: RolloutProgress,
  board: Board,
  nodes: readonly string[],
  maxFailed: number,
  now: number,
): RolloutProgress {
  const { unapplied: _, ...view } = progress;
  const around = { target: view.target, nodes: board.nodes, now };
  // The pod of a node that was removed may lie there for minutes yet.
  const here = view.pods.filter(({ node }) => board.nodes.size === 0 || node === '' || board.nodes.has(node));
  const pods = here.map((pod) => {
    const isLost = board.nodes.get(pod.node)?.ready === false;
    const facts = pod.phase === 'old' && !isLost ? board.pods.get(view.target)?.get(pod.pod) : undefined;
    return facts ? judgePod(facts, around) : pod;
  });
  const judged = canaryView({ ...view, pods }, nodes, board.nodes, { maxFailed });
  if (view.desired === 0 || judged.pods.some(({ phase }) => phase === 'new')) return judged;
  return { ...judged, done: false, pending: judged.pending || 'no agent is new and ready yet' };
}

/**
 * Throws Fault('stopped') where no pod at all has the template that all would get: nothing is known of it. What a run replaces first has to be
 * in some pod of `judged`; after a canary nothing is applied any more. In a soak it is of the nodes that are watched.
 */
export function refuseUntried(
  progress: readonly RolloutProgress[],
  judged: readonly RolloutProgress[],
  { heldFor, isJudged, only = [] }: { readonly heldFor?: HeldFor; readonly isJudged?: true; readonly only?: readonly string[] },
): void {
  const isTried = (node: string) => isJudged === true || only.includes(node);
  const untried = progress.find(({ pods, desired, unapplied }, at) => {
    if (unapplied) return heldFor === 'canary' || (pods.length > 0 && judged[at]?.pods.length === 0);
    return pods.length >= desired && pods.some(({ node }) => isTried(node)) && pods.every(({ phase }) => phase === 'old');
  });
  if (!untried) return;
  const { kind, namespace, name, image } = untried.target;
  const what = untried.unapplied && heldFor !== 'canary' ? image : `the template that ${kind} ${namespace}/${name} has now`;
  const fact = `no agent has ${what}: it was not seen to work yet`;
  const see = seeWhy(command`kubectl -n ${namespace} describe ${kind.toLowerCase()} ${name}`);
  throw new Fault('stopped', fact, [see, HELD_ON, text`try it on one node first: ${command`kubectl netsvc-upgrade run --canary 1`}`]);
}
