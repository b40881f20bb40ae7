import { parseRelease, releaseTag } from '../core/release.ts';

/** An image reference in its parts: `[registry[:port]/]path/name[:tag][@digest]`. */
export interface ImageReference {
  /** Everything before the last slash; '' if there is none. */
  readonly repository: string;
  /** The last path segment without tag and digest. */
  readonly name: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Takes a reference apart; never throws, because what it is given was written by people. */
export function parseImage(image: string): ImageReference {
  const at = image.indexOf('@');
  const [located, digest] = at < 0 ? [image, undefined] : [image.slice(0, at), image.slice(at + 1)];
  const slash = located.lastIndexOf('/');
  const last = located.slice(slash + 1);
  const colon = last.indexOf(':');
  const tag = colon < 0 ? undefined : last.slice(colon + 1);
  return {
    repository: slash < 0 ? '' : located.slice(0, slash),
    name: colon < 0 ? last : last.slice(0, colon),
    ...(tag ? { tag } : {}),
    ...(digest ? { digest } : {}),
  };
}

/**
 * The release that an image's tag names, in canonical form with its suffix (`v3.32.1-fips`);
 * undefined for no tag, a digest alone, `master`, `latest` and branch names (domain §3).
 */
export function imageRelease(image: string): string | undefined {
  const { tag } = parseImage(image);
  const release = tag === undefined ? undefined : parseRelease(tag);
  return release ? releaseTag(release) : undefined;
}

/** True if the last path segment is one of the names. */
export function isImageOf(image: string, names: readonly string[]): boolean {
  return names.includes(parseImage(image).name);
}

/** True if the image lies in one of the registries (`quay.io/calico`, `calico`), or below it. */
export function isFromRegistry(image: string, registries: readonly string[]): boolean {
  const { repository } = parseImage(image);
  return registries.some((registry) => repository === registry || repository.startsWith(`${registry}/`));
}

/** Numbers only: `v3.32.1-fips` and `v3.32.1` name the same release. */
export function sameRelease(a: string, b: string): boolean {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  if (!left || !right) return a === b;
  return left.major === right.major && left.minor === right.minor && left.patch === right.patch;
}
