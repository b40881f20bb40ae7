import type { Context } from '../../kernel/context.ts';
import { type Installation, isOperated } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { heldBy, readHeldCopies } from '../../kube/held.ts';
import { heldNames } from './hold.ts';
import { readOwnSets } from './hold-agents.ts';

/** What this program still holds: Typha, DaemonSets, and ReplicaSets from which `kubectl rollout undo` would restore it. Undefined where nothing can be held. */
export async function readStillHeld(
  cluster: Pick<Sources['cluster'], 'get' | 'list'>,
  { profile }: Pick<Context, 'profile'>,
  installation: Installation,
): Promise<readonly KubeObject[] | undefined> {
  const names = heldNames(profile);
  if (!names || !isOperated(installation) || !installation.hasTypha) return undefined;
  const { name, namespace } = names.typha;
  const [typha, copies, sets] = await Promise.all([
    cluster.get(K.Deployment, name, namespace),
    readHeldCopies(cluster, { apiVersion: 'apps/v1', kind: K.Deployment.kind, name, namespace }),
    readOwnSets(cluster, profile),
  ]);
  return [...(typha ? [typha] : []), ...sets].filter((one) => heldBy(one) !== undefined).concat(copies);
}
