import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { chartWait } from '../install-chart/index.ts';
import { readTarget, targetsOf, variantOf } from '../install-manifest/index.ts';
import { operatorEnd, operatorImage } from '../install-operator/index.ts';
import { defaultWaitMs, readNodes, readRollouts, SETTLED_BY_ROLLOUT } from '../rollout/index.ts';
import { pathStage } from '../survey/index.ts';

interface WaitFacts {
  readonly targets: readonly RolloutTarget[];
  readonly progress: readonly RolloutProgress[];
  readonly nodes: number;
}

/** The rolling update, node by node; done by the profile's READY rule and every pod on the new image (§4.4/3, §4.5/3). */
export const waitStage = pathStage<WaitFacts>({
  id: 'wait',
  title: 'Wait for the rolling update',
  ref: '§4.4/3',
  paths: ['manifest', 'kvstore'],
  also: [chartWait, operatorEnd(['operator'], operatorImage)],
  readOnly: true,
  settles: SETTLED_BY_ROLLOUT,
  checks: [],
  survey: readWaitFacts,
  plan({ targets, progress, nodes }, context) {
    if (progress.every((one) => one.done)) return { skip: `every pod is on ${context.options.release} and ready` };
    const timeoutMs = context.options.timeoutMs ?? defaultWaitMs(nodes);
    const names = targets.map((target) => `${target.kind}/${target.name}`).join(', ');
    const until = { type: 'rollout', targets, maxFailed: context.options.maxFailed } as const;
    return {
      actions: [{ id: 'rollout', title: `wait for ${names}`, ref: '§4.4/3', undo: 'full', effect: { type: 'wait', until, timeoutMs } }],
    };
  },
});

async function readWaitFacts(sources: Sources, context: Context, installation: Installation): Promise<WaitFacts> {
  const target = await readTarget(sources, context, installation);
  const targets = targetsOf(context, target, variantOf(context, installation).id);
  const nodes = await readNodes(sources);
  return { targets, progress: await readRollouts(sources, targets, nodes), nodes: nodes.length };
}
