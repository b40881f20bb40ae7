import type { Context } from '../../kernel/context.ts';
import { refOf, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseImage } from '../../kernel/release.ts';
import type { OperatedImages } from '../install-operator/index.ts';
import { attempt } from '../survey/index.ts';
import { type Injector, readInjectorTemplates } from './templates.ts';

/** Images of the policy sidecar that the mesh puts into pods once its template is the target's (§4.6); none without a mesh. */
export async function readSidecarImages(sources: Sources, context: Context): Promise<OperatedImages> {
  const injectors = await attempt(() => readInjectorTemplates(sources, context));
  if ('unread' in injectors) return { images: [], unknown: [`the image of the mesh’s policy sidecar is not known: ${injectors.unread}`] };
  return {
    images: injectors.value.withSidecar.flatMap((one) => imagesOf(one, context.profile)),
    unknown: injectors.value.withSidecar.flatMap(({ map, outcome }) => {
      if (outcome.type === 'template') return [];
      const because = outcome.type === 'none' ? outcome.because : 'its edits are still to be decided (kubectl netsvc-upgrade alp)';
      return [`the image of the policy sidecar in ${refText(refOf(map))} is not known: ${because}`];
    }),
  };
}

function imagesOf({ outcome }: Injector, { images }: Profile): readonly string[] {
  if (outcome.type !== 'template') return [];
  const found = Object.values(outcome.data).flatMap((text) =>
    [...text.matchAll(/image: *"?([\w./:@-]+)"?/g)].map(([, image = '']) => image),
  );
  return found.filter((image) => images.sidecar.includes(parseImage(image).name));
}
