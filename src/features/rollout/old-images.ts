import type { Context } from '../../kernel/context.ts';
import { imageRelease, isOlder } from '../../kernel/release.ts';
import { isImageOf } from '../survey/image-release.ts';

/** Tells the service's own images of releases before the target. */
export function oldImages({ profile, options }: Context): (image: string) => boolean {
  const { agent, cni, controllers, typha, apiserver, csi } = profile.images;
  const own = [...agent, ...cni, ...controllers, ...typha, ...apiserver, ...csi];
  return (image) => {
    const release = imageRelease(image);
    return isImageOf(image, own) && release !== undefined && isOlder(release, options.release);
  };
}
