import type { Context } from '../../core/context.ts';
import { imageRelease, isImageOf } from '../../core/image.ts';
import { isOlder } from '../../core/release.ts';

/** Tells the service's own images of releases before the target. */
export function oldImages({ profile, options }: Context): (image: string) => boolean {
  const { agent, cni, controllers, typha, apiserver, csi } = profile.images;
  const own = [...agent, ...cni, ...controllers, ...typha, ...apiserver, ...csi];
  return (image) => {
    const release = imageRelease(image);
    return isImageOf(image, own) && release !== undefined && isOlder(release, options.release);
  };
}
