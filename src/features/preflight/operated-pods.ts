import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Detection } from '../../kernel/installation.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { podsAnswer } from '../install-manifest/index.ts';
import { findWorkload, serviceWorkloads } from '../rollout/index.ts';

interface Installed {
  readonly detection: Reading<Detection>;
  readonly daemonSets: Reading<readonly KubeObject[]>;
  readonly deployments: Reading<readonly KubeObject[]>;
}

/** An operator renders its workloads once it runs. What admission says to a new pod of them now, it will most likely say then. */
export async function readOperatedPods(
  cluster: Pick<ClusterReader, 'dryRunCreate'>,
  { profile, options }: Context,
  { detection, daemonSets, deployments }: Installed,
): Promise<readonly Pick<PlannedObject, 'ref' | 'pods'>[]> {
  const installation = 'value' in detection && detection.value.type === 'found' ? detection.value.installation : undefined;
  if (!installation || (installation.path !== 'operator' && installation.path !== 'chart')) return [];
  if (installation.release === options.release || 'unread' in daemonSets || 'unread' in deployments) return [];
  const names = Object.values(serviceWorkloads(installation, profile) ?? {});
  const live = names.flatMap((name) => findWorkload([...daemonSets.value, ...deployments.value], name) ?? []);
  return Promise.all(
    live.map(async (workload) => {
      const pods = await podsAnswer(cluster, workload, workload);
      return { ref: refOf(workload), ...(pods ? { pods } : {}) };
    }),
  );
}
