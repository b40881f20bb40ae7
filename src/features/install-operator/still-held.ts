import type { Context } from '../../kernel/context.ts';
import { type Installation, isOperated } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { heldBy, readHeldCopies } from '../../kube/held.ts';
import { pacedIn } from '../../kube/paced.ts';
import { holdNames } from './hold.ts';
import { readOwnSets } from './hold-agents.ts';

/**
 * What this program still holds: Typha, the controllers, DaemonSets, and ReplicaSets from which `kubectl rollout undo` would restore it; and
 * the Installation where it paces. Undefined where nothing can be held.
 */
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
  const { installationKind: kind } = profile.operator;
  const [deployments, sets, installations] = await Promise.all([
    Promise.all(own),
    readOwnSets(cluster, profile),
    cluster.list({ ...kind, namespaced: false }),
  ]);
  const all = [...deployments.flatMap(({ live }) => live ?? []), ...sets];
  const paced = installations.filter((one) => pacedIn(one)).map((one) => ({ ...one, apiVersion: apiVersionOf(kind), kind: kind.kind }));
  return [...all.filter((one) => heldBy(one) !== undefined), ...deployments.flatMap(({ copies }) => copies), ...paced];
}
