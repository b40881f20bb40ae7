import type { Context } from '../../kernel/context.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { imageRelease, isOlder } from '../../kernel/release.ts';
import { findLeftovers, type Leftover } from '../../manifest/leftovers.ts';
import { isImageOf } from '../survey/index.ts';

/** Tells the service's own images of releases before the target. */
function oldImages({ profile, options }: Context): (image: string) => boolean {
  const { agent, cni, controllers, typha, apiserver, csi } = profile.images;
  const own = [...agent, ...cni, ...controllers, ...typha, ...apiserver, ...csi];
  return (image) => {
    const release = imageRelease(image);
    return isImageOf(image, own) && release !== undefined && isOlder(release, options.release);
  };
}

/** What the old release left in a live object that the target's has not. */
export function leftoversIn(context: Context): (live: KubeObject, document: KubeObject) => readonly Leftover[] {
  const isOldImage = oldImages(context);
  return (live, document) => findLeftovers(live, document, context.profile, isOldImage);
}
