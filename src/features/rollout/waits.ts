import type { Context, Options } from '../../kernel/context.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';

/** The limit of a wait on every install path, in milliseconds: 120 s for each node, as agents roll one at a time (domain §5), and what comes before them. */
export function waitLimit({ timeoutMs }: Pick<Options, 'timeoutMs'>, nodes: number, beforeMs = 0): number {
  return timeoutMs ?? Math.max(600_000, nodes * 120_000) + beforeMs;
}

/** That these workloads are rolled out: what a run says of every such wait. */
export const rolloutUntil = (targets: readonly RolloutTarget[], { maxFailed }: Pick<Options, 'maxFailed'>) =>
  ({ type: 'rollout', targets, maxFailed }) as const;

/** Waits for these workloads, whose pods are on this number of nodes. */
export function rolloutWait(id: string, ref: string, targets: readonly RolloutTarget[], { options }: Context, nodes: number) {
  const until = rolloutUntil(targets, options);
  const effect = { type: 'wait', until, timeoutMs: waitLimit(options, nodes) } as const;
  return { id, title: `wait for ${targets.map(({ kind, name }) => `${kind}/${name}`).join(', ')}`, ref, undo: 'full', effect } as const;
}
