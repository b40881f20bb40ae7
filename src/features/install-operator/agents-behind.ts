import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { readPinnedImages } from '../survey/index.ts';
import { operatorEndNames } from './expectation.ts';
import { agentLags } from './operator-causes.ts';

/** Not every agent is of the release that is gone to and ready, by the rule that the wait for them goes by; nor where no rule is known. */
export async function areAgentsBehind(cluster: ClusterReader, context: Context, installation: Installation): Promise<boolean> {
  const { profile, goal } = context;
  const names = operatorEndNames(profile, installation.operator);
  if (!names) return true;
  const [workloads, pinned] = await Promise.all([
    cluster.list(K.DaemonSet, { namespace: names.workloads }),
    readPinnedImages(cluster, context),
  ]);
  const target = { release: goal.release, operatorImage: '', digests: pinned.map(({ digest }) => digest) };
  return agentLags({ workloads, names, target }).length > 0;
}
