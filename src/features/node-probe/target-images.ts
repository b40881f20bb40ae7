import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { imageList, imagesIn, pullSecretsIn } from '../../manifest/images.ts';
import { pathOf } from '../install/index.ts';
import { readSidecarImages } from '../sidecars/index.ts';
import { isImageOf } from '../survey/index.ts';

/** What the nodes of this cluster are going to pull. */
export interface TargetImages {
  /** With their registries, sorted, each once; with a digest where the target or the cluster pins one. */
  readonly images: readonly string[];
  /** Secrets that the target's workloads pull with: `namespace/name`. */
  readonly pullSecrets: readonly string[];
  /** The agents’, with the user’s changes; undefined where an operator renders it. */
  readonly daemonSet: KubeObject | undefined;
  /** What cannot be known, each a sentence. */
  readonly unknown: readonly string[];
}

/** Every image of the target, from the user's registry if edited. On operator paths the operator chooses all but its own. */
export async function readTargetImages(sources: Sources, context: Context, installation: Installation): Promise<TargetImages> {
  const [{ documents, images, unknown }, sidecars] = await Promise.all([
    pathOf(installation).images(sources, context, installation),
    readSidecarImages(sources, context),
  ]);
  return {
    images: imageList([...imagesIn(documents), ...images, ...sidecars.images]),
    pullSecrets: [...new Set(pullSecretsIn(documents))].toSorted(),
    daemonSet: documents.find(
      (one) => one.kind === 'DaemonSet' && imagesIn([one]).some((image) => isImageOf(image, context.profile.images.agent)),
    ),
    unknown: [...unknown, ...sidecars.unknown],
  };
}
