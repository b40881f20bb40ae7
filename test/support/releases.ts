import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { parseRelease } from '../../src/kernel/release.ts';
import type { Releases } from '../../src/sandbox/releases.ts';

/** The published manifests that tests install and read, whole (`build/test-releases.ts` packs them; `test/data/NOTICE`). */
const PACKED = join(import.meta.dirname, '..', 'data', 'releases.json.zst');

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'netsvc-upgrade-test-releases');

/** Release manifests by version, in the layout of an artifact source. */
export const releases = unpacked(PACKED, CACHE);

/** Our own small manifests with the document's names. */
export const ownReleases = join(import.meta.dirname, '..', 'data', 'netsvc-variants');

export function manifestFile(release: string, file: string, folder = releases): string {
  return join(folder, release, 'manifests', file);
}

type Files = Readonly<Record<string, string>>;

/** A folder of releases for a cluster in memory. */
export function folderReleases(folder: string): Releases {
  return {
    source: folder,
    names: async () => (await readdir(folder)).filter((name) => parseRelease(name)).sort(),
    read: async (release, path) => (path.includes('..') ? undefined : readFile(join(folder, release, path)).catch(() => undefined)),
  };
}

/** The folder with what is packed. */
export function unpacked(packed: string, cache: string): string {
  const bytes = readFileSync(packed);
  return written(bytes, cache, () => JSON.parse(zstdDecompressSync(bytes).toString()) as Files);
}

/**
 * A folder named by the sum of what it is made from: written once a machine. It gets its name when it is whole, so that whoever comes
 * at the same time, or after one that was killed, never reads a half of it.
 */
function written(source: string | Uint8Array, cache: string, content: () => Files): string {
  const folder = join(cache, createHash('sha256').update(source).digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${folder}.`);
  try {
    for (const [name, text] of Object.entries(content())) {
      mkdirSync(dirname(join(partial, name)), { recursive: true });
      writeFileSync(join(partial, name), text);
    }
    renameSync(partial, folder);
  } catch (thrown) {
    rmSync(partial, { recursive: true, force: true });
    // Somebody else was quicker: a folder that is not empty cannot be replaced.
    if (!existsSync(folder)) throw thrown;
  }
  return folder;
}
