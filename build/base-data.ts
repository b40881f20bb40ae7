import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { packedText, type StoredBasesFile, storedBasesPath } from '../src/adapters/stored-bases.ts';
import type { KubeObject } from '../src/kernel/object.ts';
import type { Profile } from '../src/kernel/profile.ts';
import { withoutTexts } from '../src/manifest/definition-differences.ts';
import { parseManifest } from '../src/manifest/manifest.ts';
import { calico } from '../src/profiles/calico.ts';

/**
 * Packs manifests beside those that are stored, for those who upgrade without their old ones: each object once, without comments and
 * descriptions in definitions. A folder holds `<release>/manifests/<file>`; `node build/base-data.ts FOLDER…` writes the pack, and NOTICE
 * names the owners.
 */
export function packBases(folders: readonly string[], profile: Profile, stored: StoredBasesFile): StoredBasesFile {
  const places = new Map(stored.objects.map((object, index) => [JSON.stringify(object), index]));
  const place = (object: KubeObject): number => {
    const text = JSON.stringify(withoutTexts(object));
    const known = places.get(text) ?? places.size;
    places.set(text, known);
    return known;
  };
  const files = [...profile.variants, ...profile.addOns, profile.operator].map(({ file }) => file);
  const releases: Record<string, Record<string, readonly number[]>> = { ...stored.releases };
  for (const folder of folders)
    for (const path of globSync(`*/manifests/{${files.join(',')}}`, { cwd: folder }).sort()) {
      const [release = '', , file = ''] = path.split(/[\\/]/);
      const { documents } = parseManifest(readFileSync(join(folder, path), 'utf8'), path);
      releases[release] = { ...releases[release], [file]: documents.map(({ object }) => place(object)) };
    }
  return { objects: [...places.keys()].map((text) => JSON.parse(text) as KubeObject), releases };
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
