import type { Sources } from '../core/ports.ts';
import { compareReleases, parseRelease } from '../core/release.ts';
import { distanceBetween, type OwnObjects } from '../merge/distance.ts';
import type { Manifest } from '../merge/manifest.ts';
import { attempt, eachOf } from './reading.ts';
import { readReleaseManifest } from './target.ts';

export interface FileOfBase {
  readonly release: string;
  readonly manifest: Manifest;
}

/** Files read at a time. */
const WIDTH = 2;

/**
 * A person may have put the images of one patch release on the file of another; every change between the two would look like
 * an edit. So the release with the fewest edits is the base: of several the one that the images name, else the oldest (merge
 * notes §4). Releases that cannot be had are passed over.
 */
export async function closestBase(
  sources: Sources,
  labelled: FileOfBase,
  others: readonly string[],
  file: string,
  mine: OwnObjects,
): Promise<FileOfBase> {
  const edits = ({ manifest }: FileOfBase) =>
    distanceBetween(
      manifest.documents.map(({ object }) => object),
      mine,
    );
  let best = { base: labelled, edits: edits(labelled) };
  if (best.edits === 0) return labelled;
  const found = await eachOf(others, WIDTH, async (release) => ({
    release,
    read: await attempt(() => readReleaseManifest(sources, release, file)),
  }));
  const candidates = found.flatMap(({ release, read }) => ('value' in read && read.value ? [{ release, manifest: read.value }] : []));
  for (const base of candidates.toSorted(byAge)) {
    const count = edits(base);
    if (count < best.edits) best = { base, edits: count };
  }
  return best.base;
}

/** Oldest first. */
function byAge(a: FileOfBase, b: FileOfBase): number {
  const [left, right] = [parseRelease(a.release), parseRelease(b.release)];
  return left && right ? compareReleases(left, right) : 0;
}
