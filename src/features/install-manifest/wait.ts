import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { unattributed } from '../../kube/lean-objects.ts';
import { objectsIn } from '../../manifest/manifest.ts';
import { refuseHeld, refuseLeft } from '../canary/index.ts';
import { agentsOfTarget, keepConnections, probeAtEnd, probeBetween } from '../network-probe/index.ts';
import type { Awaited } from '../ownerrefs/index.ts';
import {
  type HeldFor,
  type OtherPodsJudged,
  otherPodsOf,
  othersRunning,
  readNodes,
  readRollouts,
  rolloutTarget,
  rolloutUntil,
  rolloutWait,
  WATCHED_NAMESPACE,
} from '../rollout/index.ts';
import { attempt, pathPart } from '../survey/index.ts';
import { targetsOf } from './apply-facts.ts';
import { ownFile, readTarget } from './target.ts';

interface WaitFacts extends OtherPodsJudged {
  /** Their pods, of which there may be thousands, are not kept: the wait reads its own. */
  readonly progress: readonly Pick<RolloutProgress, 'target' | 'done'>[];
  readonly nodes: number;
  /** The DaemonSet of the agents, by its name. */
  readonly agent: string;
}

/** The rolling update, node by node; done by the profile's READY rule and every pod on the new image (§4.4/3, §4.5/3). */
export const manifestEnd = pathPart<WaitFacts>({
  checks: [othersRunning],
  survey: readWaitFacts,
  plan({ progress, nodes, agent }, context) {
    const { goal, options, chain } = context;
    const agents = progress.find(({ target }) => target.kind === 'DaemonSet' && target.name === agent);
    const end = agents ? probeAtEnd(agentsOfTarget(agents.target), options) : [];
    if (progress.every((one) => one.done)) {
      return end.length > 0 ? { actions: end } : { skip: `every pod is on ${goal.release} and ready` };
    }
    const targets = progress.map(({ target }) => target);
    const rollout = rolloutWait('rollout', '§4.4/3', targets, context, nodes);
    // Of a run that is still to apply the manifest, `apply` waits for the agents and probes between.
    const isAhead = chain?.pending.includes('apply') === true;
    const first = agents && !agents.done && !isAhead ? probeFirst(agents.target, rollout, context) : [];
    const keep = agents && first.length > 0 ? keepConnections(agentsOfTarget(agents.target), options, rollout.effect.timeoutMs) : [];
    return { actions: [...keep, ...first, rollout, ...end] };
  },
});

/** With --probe-network: between the first upgraded agent and the others. */
export function probeFirst(
  agent: RolloutTarget,
  { effect }: ReturnType<typeof rolloutWait>,
  { options }: Context,
  heldFor?: HeldFor,
): readonly Action[] {
  const first = { ...effect.until, targets: [agent], untilFirst: true, ...(heldFor ? { heldFor } : {}) } as const;
  return probeBetween(agentsOfTarget(agent), first, options, effect.timeoutMs, heldFor);
}

async function readWaitFacts(sources: Sources, context: Context, installation: Installation): Promise<WaitFacts> {
  const target = await readTarget(sources, context, installation);
  const { variant } = ownFile(context, installation);
  // Nodes tell why a pod lags, and not whether: how many there are is known already.
  const rollouts = await readRollouts(sources, targetsOf(context, target, variant.id), []);
  const progress = rollouts.map(({ target: one, done }) => ({ target: one, done }));
  const agents = rollouts.find(({ target: { kind, name } }) => kind === 'DaemonSet' && name === variant.agent.name);
  const comesAfter = context.chain?.earlier?.includes('apply') === true;
  if (agents && !agents.done && !comesAfter) await refuseHeld(sources, agents.target, context);
  const open = rollouts.filter(({ done }) => !done);
  if (!comesAfter) await refuseLeft(sources, open, context);
  const nodes = installation.nodes ?? (await readNodes(sources)).length;
  const otherPods = await attempt(() => readOtherPods(sources, context));
  return { progress, nodes, agent: variant.agent.name, otherPods };
}

/** For who waits alone: in a run `verify` reports them, at its end. */
async function readOtherPods({ cluster, records }: Sources, context: Context) {
  if (context.chain?.later.includes('verify')) return [];
  const pods = await cluster.list(K.Pod, { namespace: WATCHED_NAMESPACE, keep: unattributed });
  return otherPodsOf(pods, await records.load(), context);
}

/** The API server, which has a manifest of its own beside the full one. */
export async function apiServerRollout(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  const target = await readTarget(sources, context, installation);
  const addOn = ownFile(context, installation).addOns.find(({ id }) => id === 'apiserver');
  const documents = target.addOns.filter(({ id }) => id === 'apiserver').flatMap(({ manifest }) => objectsIn(manifest));
  const found = addOn && rolloutTarget(addOn.workload, { documents });
  const own = found ? [found] : [];
  const progress = await readRollouts(sources, own, await readNodes(sources));
  const open = progress.filter(({ done }) => !done).map(({ target: one }) => one);
  if (open.length === 0) return [];
  return [{ until: rolloutUntil(open, context.options), title: `wait for ${open.map(refText).join(', ')}` }];
}
