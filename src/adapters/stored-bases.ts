import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '../kernel/object.ts';
import type { StoredManifests } from '../kernel/ports.ts';
import { byAge } from '../kernel/release.ts';
import { brotliDecompressed } from './compression.ts';
import { ifThere } from './durable-write.ts';
import { giveMemoryBack } from './memory.ts';

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

/** Undefined if nothing is stored for a profile of that name. With `only` it has nothing but the objects of these files. */
export async function openStoredBases(profile: string, only?: readonly string[]): Promise<StoredBases | undefined> {
  if (!/^[\w-]+$/.test(profile)) return undefined;
  const packed = await ifThere(readFile(storedBasesPath(profile)));
  if (!packed) return undefined;
  const { releases, lines } = await unpacked(packed, only);
  // Each object is parsed when a release that has it is asked for, and once.
  const parsed = new Map<number, KubeObject>();
  const objectAt = (place: number): KubeObject => {
    const known = parsed.get(place) ?? (JSON.parse(lines.get(place) ?? '{}') as KubeObject);
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

type Releases = StoredBasesFile['releases'];

/** Line by line as it is unpacked, so that what is not asked for is never there whole: 1.5 of 8 MB are of one file. */
async function unpacked(packed: Buffer, only: readonly string[] | undefined) {
  const lines = new Map<number, string>();
  let releases: Releases = {};
  let wanted: ReadonlySet<number> | undefined;
  let place = -1;
  for await (const line of linesOf(brotliDecompressed(packed))) {
    if (place < 0) {
      releases = filesOf(JSON.parse(line.toString('utf8')) as Releases, only);
      wanted = only && new Set(Object.values(releases).flatMap((files) => Object.values(files).flat()));
    } else if (wanted?.has(place) ?? true) lines.set(place, line.toString('utf8'));
    place += 1;
  }
  return { releases, lines };
}

function filesOf(releases: Releases, only: readonly string[] | undefined): Releases {
  if (!only) return releases;
  const some = ([release, files]: readonly [string, Releases[string]]) =>
    [release, Object.fromEntries(Object.entries(files).filter(([file]) => only.includes(file)))] as const;
  return Object.fromEntries(Object.entries(releases).map(some));
}

/** Each is a part of a chunk, so whoever keeps it copies it. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: readonly Buffer[] = [];
  for await (const chunk of chunks) {
    giveMemoryBack(chunk.length);
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      const last = chunk.subarray(from, end);
      yield held.length === 0 ? last : Buffer.concat([...held, last]);
      [held, from] = [[], end + 1];
    }
    held = [...held, Buffer.from(chunk.subarray(from))];
  }
  yield Buffer.concat(held);
}

/**
 * The same for the stages: what is stored of a file is read when the first of them asks; a profile without anything has no releases. It is
 * kept until the garbage collector takes it, and read again then.
 */
export function storedManifests(profile: string): StoredManifests {
  const opened = new Map<string, WeakRef<Promise<StoredBases | undefined>>>();
  const open = (file: string) => {
    const bases = opened.get(file)?.deref() ?? openStoredBases(profile, [file]);
    opened.set(file, new WeakRef(bases));
    return bases;
  };
  return {
    releasesOf: async (file) => (await open(file))?.releasesOf(file) ?? [],
    documentsOf: async (release, file) => (await open(file))?.documentsOf(release, file),
  };
}
