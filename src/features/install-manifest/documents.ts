import type { ClusterReader } from '../../kernel/ports.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { eachOf } from '../survey/index.ts';
import { type PreviewedObject, redefined, refusedToKubectl } from './outcome.ts';
import type { OwnershipMode } from './ownership-taken.ts';
import { definesKind, type LeftoversOf, previewDocument } from './preview.ts';

/** Requests under way at a time. */
const WIDTH = 6;

export async function previewDocuments(
  cluster: ClusterReader,
  manifest: Manifest,
  ownership: OwnershipMode = 'first',
  leftoversOf?: LeftoversOf,
): Promise<readonly PreviewedObject[]> {
  const documents = manifest.documents.map(({ object }) => object);
  const previews = await eachOf(documents, WIDTH, async (document) => {
    const preview = await previewDocument(cluster, document, documents, leftoversOf);
    return ownership === 'kubectl' && preview.needsOwnership !== undefined ? refusedToKubectl(preview, preview.needsOwnership) : preview;
  });
  const newDefinitions = previews
    .filter(({ live, planned }) => live !== undefined && planned.change === 'update')
    .map(({ document }) => document);
  return previews.map((preview) => (newDefinitions.some((one) => definesKind(one, preview.document)) ? redefined(preview) : preview));
}
