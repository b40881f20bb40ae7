/** A release of the service, such as v3.27.5; the suffix keeps what follows the numbers (`-fips`, `-0.dev-403`). */
export interface Release {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly suffix: string;
}

const RELEASE = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,6})([-+].{0,200})?$/;

/** Reads a release tag; undefined for `master`, `latest`, branch names and anything else without three numbers. */
export function parseRelease(text: string): Release | undefined {
  const match = RELEASE.exec(text.trim());
  if (!match) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]), suffix: match[4] ?? '' };
}

/** The canonical tag of a release: `v3.27.5`, suffix kept. */
export function releaseTag(release: Release): string {
  return `v${release.major}.${release.minor}.${release.patch}${release.suffix}`;
}

/** The minor line of a release: `v3.27`. */
export function minorOf(release: Release): string {
  return `v${release.major}.${release.minor}`;
}

/** Orders by numbers; suffixes are ignored, because they name builds and not ages. */
export function compareReleases(a: Release, b: Release): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/** Orders tags by age; what is no release tag comes last. */
export function byAge(a: string, b: string): number {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  return left && right ? compareReleases(left, right) : Number(!left) - Number(!right);
}

/** True if tag `a` is older than tag `b`; both must be release tags. */
export function isOlder(a: string, b: string): boolean {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  if (!left || !right) throw new Error(`not a release tag: ${left ? b : a}`);
  return compareReleases(left, right) < 0;
}

/** True if going from `source` to `target` passes release `at`; an unknown source is assumed to be older. */
export function crosses(source: string | undefined, target: string, at: string): boolean {
  if (parseRelease(target) === undefined || isOlder(target, at)) return false;
  return source === undefined || parseRelease(source) === undefined || isOlder(source, at);
}

/** True if a release is of the minor line `v3.22` or an older one; an unknown release is assumed to be. */
export function notAfterLine(release: string | undefined, line: string): boolean {
  const [own, limit] = [parseRelease(release ?? ''), parseRelease(`${line}.0`)];
  return limit !== undefined && (own === undefined || compareReleases({ ...own, patch: 0 }, limit) <= 0);
}

/** How old what runs is beside the target; `untold` where its image does not tell its release. */
export function ageBeside(release: string | undefined, target: string): 'old' | 'newer' | 'untold' | 'same' {
  if (release === undefined) return 'untold';
  if (isOlder(release, target)) return 'old';
  return isOlder(target, release) ? 'newer' : 'same';
}

/** True if both tags are of one minor line (v3.32.1 and v3.32.2). */
export function sameMinor(a: string, b: string): boolean {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  return left !== undefined && right !== undefined && minorOf(left) === minorOf(right);
}

/** Numbers only: `v3.32.1-fips` and `v3.32.1` name the same release. */
export function sameRelease(a: string, b: string): boolean {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  if (!left || !right) return a === b;
  return left.major === right.major && left.minor === right.minor && left.patch === right.patch;
}

/** The minor line: `v3.32` for `v3.32.1`, `v3.32` and `3.32.1-0.dev-5-gabc` (§9/3). Undefined for `unknown`, `master` and the like. */
export function lineOf(version: string): string | undefined {
  const match = /^v?(\d{1,4})\.(\d{1,4})(?:$|[.+-])/.exec(version.trim());
  return match ? `v${match[1]}.${match[2]}` : undefined;
}

/** An image reference in its parts: `[registry[:port]/]path/name[:tag][@digest]`. */
export interface ImageReference {
  /** Everything before the last slash; '' if there is none. */
  readonly repository: string;
  /** The last path segment without tag and digest. */
  readonly name: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Takes a reference apart; never throws, because what it is given was written by users. */
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

/** The release in an image's tag, with its suffix (`v3.32.1-fips`); undefined for digests, `master` and branches (domain §3). */
export function imageRelease(image: string): string | undefined {
  const { tag } = parseImage(image);
  const release = tag === undefined ? undefined : parseRelease(tag);
  return release ? releaseTag(release) : undefined;
}

/** How an image stands to a release: by its digest where it has one and those of the release are known, else by its tag. */
export type ImageAge = 'of' | 'other' | 'untold';

/** The one rule for whether an image is of a release (domain §3). Admission may add an unknown digest to the tag. */
export function imageAge(image: string, release: string, digests: readonly string[] = []): ImageAge {
  const { digest } = parseImage(image);
  if (digest !== undefined && digests.length > 0) return digests.includes(digest) ? 'of' : 'other';
  const found = imageRelease(image);
  if (found !== undefined) return sameRelease(found, release) ? 'of' : 'other';
  return digest === undefined ? 'other' : 'untold';
}

/** Compares the numbers that two versions begin with, one by one: `5.15.0-91-generic` is as old as `5.15`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const longest = Math.max(left.length, right.length);
  for (let index = 0; index < longest; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): readonly number[] {
  return (/^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '').split('.').map(Number);
}
