import { parseRelease, releaseTag, sameRelease } from './release.ts';

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

/** How an image stands to a release: by its digest where it has one and those of the release are known, else by its tag. */
export type ImageAge = 'of' | 'other' | 'untold';

/**
 * The one rule for whether an image is of a release (domain §3). What pins images by digest leaves the tag out; where it is
 * there nevertheless, and nobody knows digests of the release, admission has added the digest.
 */
export function imageAge(image: string, release: string, digests: readonly string[] = []): ImageAge {
  const { digest } = parseImage(image);
  if (digest !== undefined && digests.length > 0) return digests.includes(digest) ? 'of' : 'other';
  const found = imageRelease(image);
  if (found !== undefined) return sameRelease(found, release) ? 'of' : 'other';
  return digest === undefined ? 'other' : 'untold';
}
