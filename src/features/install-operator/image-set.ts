import type { Context } from '../../kernel/context.ts';
import { isRecord } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { recordsIn } from '../../manifest/prepare.ts';

/** An image that the cluster's own set of images for the target pins (domain §11.3). */
export interface PinnedImage {
  readonly image: string;
  readonly digest: string;
}

/** The ImageSet for the target is named after it; without one nothing is pinned. */
export async function readPinnedImages(
  cluster: Pick<ClusterReader, 'list' | 'resolve'>,
  { profile, options }: Pick<Context, 'profile' | 'options'>,
): Promise<readonly PinnedImage[]> {
  const served = await cluster.resolve(`${profile.operatorGroup}/v1`, 'ImageSet');
  const sets = served ? await cluster.list(served) : [];
  return sets.filter(({ metadata }) => metadata.name.endsWith(`-${options.release}`)).flatMap(pinnedIn);
}

function pinnedIn({ spec }: KubeObject): readonly PinnedImage[] {
  return recordsIn(isRecord(spec) ? spec.images : []).flatMap(({ image, digest }) =>
    typeof image === 'string' && typeof digest === 'string' ? [{ image, digest }] : [],
  );
}
