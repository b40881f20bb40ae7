import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { imageList, imagesIn, pullSecretsIn } from '../../manifest/images.ts';
import { readChartFacts, renderedChart } from '../install-chart/index.ts';
import { readMergedTarget, targetDocuments } from '../install-manifest/index.ts';
import { readOperatedImages } from '../install-operator/index.ts';
import { readSidecarImages } from '../sidecars/index.ts';
import { isOperated } from '../survey/index.ts';

/** What the nodes of this cluster are going to pull. */
export interface TargetImages {
  /** With their registries, sorted, each once; with a digest where the target or the cluster pins one. */
  readonly images: readonly string[];
  /** Secrets that the target's workloads pull with: `namespace/name`. */
  readonly pullSecrets: readonly string[];
  /** What cannot be known, each a sentence. */
  readonly unknown: readonly string[];
}

/** Every image of the target, from the user's registry if edited. On operator paths the operator chooses all but its own. */
export async function readTargetImages(sources: Sources, context: Context, installation: Installation): Promise<TargetImages> {
  const { documents, unknown } = await readDocuments(sources, context, installation);
  const [sidecars, operated] = await Promise.all([
    readSidecarImages(sources, context),
    isOperated(installation) ? readOperatedImages(sources, context, installation, documents) : { images: [], unknown: [] },
  ]);
  return {
    images: imageList([...imagesIn(documents), ...operated.images, ...sidecars.images]),
    pullSecrets: [...new Set(pullSecretsIn(documents))].toSorted(),
    unknown: [...unknown, ...operated.unknown, ...sidecars.unknown],
  };
}

async function readDocuments(sources: Sources, context: Context, installation: Installation) {
  if (installation.path === 'chart') {
    const facts = await readChartFacts(sources, context, installation, 'earlier');
    return { documents: await renderedChart(sources, facts), unknown: [] };
  }
  const { target, edits } = await readMergedTarget(sources, context, installation, await sources.records.load());
  const documents = targetDocuments(target);
  if ('unread' in edits) return { documents, unknown: [`your edits are not in the list: ${edits.unread}`] };
  // By the path: what is decided for all images of a registry at once has a name of its own.
  const open = edits.value.conflicts.filter(({ path }) => /\.image$/.test(path)).map(({ field }) => field);
  return { documents, unknown: open.map((field) => `${field} is still to be decided: listed is what the target has there`) };
}
