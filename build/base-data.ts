import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { packedText, type StoredBasesFile, storedBasesPath } from '../src/adapters/stored-bases.ts';
import type { KubeObject } from '../src/kernel/object.ts';
import type { Profile } from '../src/kernel/profile.ts';
import { withoutTexts } from '../src/manifest/definition-differences.ts';
import { parseManifest } from '../src/manifest/manifest.ts';
import { calico } from '../src/profiles/calico.ts';

interface Source {
  readonly folder: string;
  readonly release: string;
  readonly file: string;
  readonly sha256: string;
}

/**
 * Packs manifests beside those that are stored, for those who upgrade without their old ones: each object once, without comments and
 * descriptions in definitions. A folder holds `<release>/<file>` and an `INDEX.tsv` (file, SHA-256, bytes, source); `node build/base-data.ts
 * FOLDER…` writes the pack, and NOTICE names the owners. Throws Error for a file that differs from its index.
 */
export function packBases(folders: readonly string[], profile: Profile, stored: StoredBasesFile): StoredBasesFile {
  const places = new Map(stored.objects.map((object, index) => [JSON.stringify(object), index]));
  const place = (object: KubeObject): number => {
    const text = JSON.stringify(withoutTexts(object));
    const known = places.get(text) ?? places.size;
    places.set(text, known);
    return known;
  };
  const files = new Set([...profile.variants, ...profile.addOns, profile.operator].map(({ file }) => file));
  const releases: Record<string, Record<string, readonly number[]>> = { ...stored.releases };
  for (const source of folders.flatMap(indexed)) {
    if (!files.has(source.file)) continue;
    releases[source.release] = { ...releases[source.release], [source.file]: objectsOf(source).map(place) };
  }
  return { objects: [...places.keys()].map((text) => JSON.parse(text) as KubeObject), releases };
}

function indexed(folder: string): readonly Source[] {
  const [, ...rows] = readFileSync(join(folder, 'INDEX.tsv'), 'utf8').trimEnd().split('\n');
  return rows.map((row) => {
    const [path = '', sha256 = ''] = row.split('\t');
    const [release = '', file = ''] = path.split('/');
    return { folder, release, file, sha256 };
  });
}

function objectsOf({ folder, release, file, sha256 }: Source): readonly KubeObject[] {
  const path = join(folder, release, file);
  const bytes = readFileSync(path);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw new Error(`${path} is not the file that INDEX.tsv names`);
  return parseManifest(bytes.toString('utf8'), path).documents.map(({ object }) => object);
}

/** What is packed. */
export function storedBases(profile: string): StoredBasesFile {
  const [releases = '{}', ...objects] = brotliDecompressSync(readFileSync(storedBasesPath(profile)))
    .toString()
    .split('\n');
  return { releases: JSON.parse(releases), objects: objects.map((line) => JSON.parse(line)) };
}

if (import.meta.main) {
  const [, , ...folders] = process.argv;
  if (folders.length === 0) throw new Error('name the folders of releases');
  const text = packedText(packBases(folders, calico, storedBases(calico.name)));
  const path = storedBasesPath(calico.name);
  mkdirSync(dirname(path), { recursive: true });
  // Unpacking takes memory for the whole window: four times as large, it saves 7 kB of the file.
  const params = { [constants.BROTLI_PARAM_LGWIN]: 20, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  writeFileSync(path, brotliCompressSync(text, { params }));
}
