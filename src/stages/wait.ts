import type { Context } from '../core/context.ts';
import { judgeRollout } from '../core/judge-rollout.ts';
import { K } from '../core/kinds.ts';
import { nodeFacts, podFacts } from '../core/pod-facts.ts';
import type { Sources } from '../core/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../core/rollout.ts';
import { stage } from '../core/stage.ts';
import { readInstalled } from './installed.ts';
import { defaultWaitMs, rolloutTargets } from './rollout-targets.ts';
import { readTarget } from './target.ts';

interface WaitFacts {
  readonly targets: readonly RolloutTarget[];
  readonly progress: readonly RolloutProgress[];
  readonly nodes: number;
}

/** The rolling update, node by node; done by the profile's READY rule and every pod on the new image (§4.4/3, §4.5/3). */
export const waitStage = stage<WaitFacts>({
  id: 'wait',
  title: 'Wait for the rolling update',
  ref: '§4.4/3',
  paths: ['manifest', 'kvstore'],
  readOnly: true,
  checks: [],
  survey: readWaitFacts,
  plan({ targets, progress, nodes }, context) {
    if (targets.length === 0) return { skip: 'the target has no workloads to wait for' };
    if (progress.every((one) => one.done)) return { skip: `every pod is on ${context.options.release} and ready` };
    const timeoutMs = context.options.timeoutMs ?? defaultWaitMs(nodes);
    const names = targets.map((target) => `${target.kind}/${target.name}`).join(', ');
    const until = { type: 'rollout', targets, maxFailed: context.options.maxFailed } as const;
    return {
      actions: [{ id: 'rollout', title: `wait for ${names}`, ref: '§4.4/3', undo: 'full', effect: { type: 'wait', until, timeoutMs } }],
    };
  },
});

async function readWaitFacts(sources: Sources, context: Context): Promise<WaitFacts> {
  const installation = await readInstalled(sources, context);
  const target = await readTarget(sources, context, installation);
  const variant = context.profile.variants.find((one) => one.id === installation.variant);
  const addOns = target.addOns.flatMap(({ id, manifest }) => {
    const addOn = context.profile.addOns.find((one) => one.id === id);
    return addOn ? [{ addOn, documents: manifest.documents.map((one) => one.object) }] : [];
  });
  const targets = variant ? rolloutTargets(variant, { documents: target.manifest.documents.map((one) => one.object) }, addOns) : [];
  const nodes = (await sources.cluster.list(K.Node)).map(nodeFacts);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const now = sources.clock.now().getTime();
  const progress = await Promise.all(
    targets.map(async (one) => {
      const workload = await sources.cluster.get(K[one.kind], one.name, one.namespace);
      const labels =
        (workload as { spec?: { selector?: { matchLabels?: Record<string, string> } } } | undefined)?.spec?.selector?.matchLabels ?? {};
      const labelSelector = Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(',');
      const pods = workload ? await sources.cluster.list(K.Pod, { namespace: one.namespace, labelSelector }) : [];
      return judgeRollout({ target: one, workload, pods: pods.map(podFacts), nodes: byName, now });
    }),
  );
  return { targets, progress, nodes: nodes.length };
}
