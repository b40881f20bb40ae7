import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '../core/object.ts';
import type { StoredManifests } from '../core/ports.ts';
import { compareReleases, parseRelease } from '../core/release.ts';
import { brotliDecompress } from './compression.ts';

/** Manifests of releases as the package carries them: each object once, however many files have it. */
export interface StoredBasesFile {
  readonly objects: readonly KubeObject[];
  /** By release and file name: the file's objects in its order, as places in `objects`. */
  readonly releases: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
}

/** Releases' own manifests for those who have none at hand: old ones are published nowhere as files. */
export interface StoredBases {
  /** Releases that have such a file, oldest first. */
  releasesOf(file: string): readonly string[];
  /** The objects of a release's file; undefined if it is not stored. */
  documentsOf(release: string, file: string): readonly KubeObject[] | undefined;
}

/** Where the stored manifests of a profile are, in the sources and in the built program alike. */
export function storedBasesPath(profile: string): string {
  return fileURLToPath(new URL(`../adapters/bases/${profile}.json.br`, import.meta.url));
}

/** Undefined if nothing is stored for a profile of that name. */
export async function openStoredBases(profile: string): Promise<StoredBases | undefined> {
  if (!/^[\w-]+$/.test(profile)) return undefined;
  const packed = await readFile(storedBasesPath(profile)).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined;
    throw thrown;
  });
  if (!packed) return undefined;
  const text = (await brotliDecompress(packed)).toString('utf8');
  return viewOf(JSON.parse(text) as StoredBasesFile);
}

function viewOf({ objects, releases }: StoredBasesFile): StoredBases {
  return {
    releasesOf: (file) =>
      Object.keys(releases)
        .filter((release) => releases[release]?.[file] !== undefined)
        .toSorted(byAge),
    documentsOf: (release, file) => releases[release]?.[file]?.flatMap((place) => objects[place] ?? []),
  };
}

function byAge(a: string, b: string): number {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  return left && right ? compareReleases(left, right) : 0;
}

/** The same for the stages: the file is read when the first of them asks; a profile without one has no releases. */
export function storedManifests(profile: string): StoredManifests {
  let opened: Promise<StoredBases | undefined> | undefined;
  const open = () => {
    opened ??= openStoredBases(profile);
    return opened;
  };
  return {
    releasesOf: async (file) => (await open())?.releasesOf(file) ?? [],
    documentsOf: async (release, file) => (await open())?.documentsOf(release, file),
  };
}
