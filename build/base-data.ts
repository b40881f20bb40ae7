import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type StoredBasesFile, storedBasesPath } from '../src/adapters/stored-bases.ts';
import type { KubeObject } from '../src/core/object.ts';
import type { Profile } from '../src/core/profile.ts';
import { parseManifest } from '../src/merge/manifest.ts';
import { calico } from '../src/profiles/calico.ts';

/**
 * Packs the manifests of all releases in a folder (`<release>/manifests/<file>`) for those who upgrade without their old ones.
 * `node build/base-data.ts FOLDER` writes it anew; the folder is the data beside the repository.
 */
export function packBases(folder: string, profile: Profile): StoredBasesFile {
  const places = new Map<string, number>();
  const place = (object: KubeObject): number => {
    const text = JSON.stringify(object);
    const known = places.get(text) ?? places.size;
    places.set(text, known);
    return known;
  };
  const files = [...new Set([...profile.variants, ...profile.addOns, profile.operator].map(({ file }) => file))];
  const releases = readdirSync(folder).map((release) => {
    const there = files.map((file) => ({ file, path: join(folder, release, 'manifests', file) })).filter(({ path }) => existsSync(path));
    return [release, Object.fromEntries(there.map(({ file, path }) => [file, objectsOf(path).map(place)]))] as const;
  });
  return { objects: [...places.keys()].map((text) => JSON.parse(text) as KubeObject), releases: Object.fromEntries(releases) };
}

function objectsOf(path: string): readonly KubeObject[] {
  return parseManifest(readFileSync(path, 'utf8'), path).documents.map(({ object }) => object);
}

if (import.meta.main) {
  const [, , folder] = process.argv;
  if (folder === undefined) throw new Error('name the folder of releases');
  const text = JSON.stringify(packBases(folder, calico));
  const path = storedBasesPath(calico.name);
  mkdirSync(dirname(path), { recursive: true });
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  writeFileSync(path, brotliCompressSync(text, { params }));
}
