import type { Context } from '../../core/context.ts';
import { imageRelease, isOlder } from '../../core/release.ts';
import { isImageOf } from '../../detect/images.ts';

/** Tells the service's own images of releases before the target. */
export function oldImages({ profile, options }: Context): (image: string) => boolean {
  const { agent, cni, controllers, typha, apiserver, csi } = profile.images;
  const own = [...agent, ...cni, ...controllers, ...typha, ...apiserver, ...csi];
  return (image) => {
    const release = imageRelease(image);
    return isImageOf(image, own) && release !== undefined && isOlder(release, options.release);
  };
}
