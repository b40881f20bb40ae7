import type { Context } from '../../kernel/context.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { recordsIn } from '../../manifest/prepare.ts';
import { listServed } from './reading.ts';

/** Images that the cluster's own set for the target pins (domain §11.3). The ImageSet is named after it; without one nothing is pinned. */
export async function readPinnedImages(
  cluster: Pick<ClusterReader, 'list' | 'resolve'>,
  { profile, goal }: Pick<Context, 'profile' | 'goal'>,
): Promise<readonly { readonly image: string; readonly digest: string }[]> {
  const sets = await listServed(cluster, `${profile.operatorGroup}/v1`, 'ImageSet');
  return sets.filter(({ metadata }) => metadata.name.endsWith(`-${goal.release}`)).flatMap(pinnedIn);
}

function pinnedIn({ spec }: KubeObject) {
  return recordsIn(jsonAt(spec, 'images')).flatMap(({ image, digest }) =>
    typeof image === 'string' && typeof digest === 'string' ? [{ image, digest }] : [],
  );
}
