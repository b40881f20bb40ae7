import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '../kernel/object.ts';
import type { StoredManifests } from '../kernel/ports.ts';
import { byAge } from '../kernel/release.ts';
import { brotliDecompress } from './compression.ts';
import { ifThere } from './durable-write.ts';

/** Manifests of releases as the package carries them: each object once, however many files have it. */
export interface StoredBasesFile {
  readonly objects: readonly KubeObject[];
  /** By release and file name: the file's objects in its order, as places in `objects`. */
  readonly releases: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
}

/** As it is packed: a line for `releases`, then one for each object. What is not asked for need not be parsed. */
export function packedText({ objects, releases }: StoredBasesFile): string {
  return [releases, ...objects].map((line) => JSON.stringify(line)).join('\n');
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
  const packed = await ifThere(readFile(storedBasesPath(profile)));
  if (!packed) return undefined;
  const [first = NONE, ...lines] = linesIn(await brotliDecompress(packed));
  const releases = JSON.parse(first.toString('utf8')) as StoredBasesFile['releases'];
  // Each object is parsed when a release that has it is asked for, and once.
  const parsed = new Map<number, KubeObject>();
  const objectAt = (place: number): KubeObject => {
    const known = parsed.get(place) ?? (JSON.parse((lines[place] ?? NONE).toString('utf8')) as KubeObject);
    parsed.set(place, known);
    return known;
  };
  return {
    releasesOf: (file) =>
      Object.keys(releases)
        .filter((release) => releases[release]?.[file] !== undefined)
        .toSorted(byAge),
    documentsOf: (release, file) => releases[release]?.[file]?.map(objectAt),
  };
}

const NONE = Buffer.from('{}');

/** Parts of the same memory: as one text of which each is cut, all of it would be there twice. */
function linesIn(text: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf(0x0a, from);
    lines.push(text.subarray(from, end < 0 ? text.length : end));
    from = end < 0 ? text.length + 1 : end + 1;
  }
  return lines;
}

/**
 * The same for the stages: the file is read when the first of them asks; a profile without one has no releases. Unpacked it is 8 MB, of which
 * little is needed: it is kept until the garbage collector takes it, and read again then.
 */
export function storedManifests(profile: string): StoredManifests {
  let opened: WeakRef<Promise<StoredBases | undefined>> | undefined;
  const open = () => {
    const bases = opened?.deref() ?? openStoredBases(profile);
    opened = new WeakRef(bases);
    return bases;
  };
  return {
    releasesOf: async (file) => (await open())?.releasesOf(file) ?? [],
    documentsOf: async (release, file) => (await open())?.documentsOf(release, file),
  };
}
