import type { Context } from '../../kernel/context.ts';
import { type Installation, isOperated } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { heldBy, readHeldCopies } from '../../kube/held.ts';
import { holdNames } from './hold.ts';
import { readOwnSets } from './hold-agents.ts';

/** What this program still holds: Typha, the controllers, DaemonSets, and ReplicaSets from which `kubectl rollout undo` would restore it. Undefined where nothing can be held. */
export async function readStillHeld(
  cluster: Pick<Sources['cluster'], 'get' | 'list'>,
  { profile }: Pick<Context, 'profile'>,
  installation: Installation,
): Promise<readonly KubeObject[] | undefined> {
  const names = holdNames(profile);
  if (names.length === 0 || !isOperated(installation)) return undefined;
  const own = names.map(async ({ name, namespace }) => {
    const [live, copies] = await Promise.all([
      cluster.get(K.Deployment, name, namespace),
      readHeldCopies(cluster, { apiVersion: 'apps/v1', kind: K.Deployment.kind, name, namespace }),
    ]);
    return { live, copies };
  });
  const [deployments, sets] = await Promise.all([Promise.all(own), readOwnSets(cluster, profile)]);
  const all = [...deployments.flatMap(({ live }) => live ?? []), ...sets];
  return all.filter((one) => heldBy(one) !== undefined).concat(deployments.flatMap(({ copies }) => copies));
}
