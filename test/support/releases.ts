import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';

/** The published manifests that tests install and read, whole (`build/test-releases.ts` packs them; `test/data/NOTICE`). */
const PACKED = join(import.meta.dirname, '..', 'data', 'releases.json.zst');

/** Release manifests by version, in the layout of an artifact source. */
export const releases = unpacked(PACKED, join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'netsvc-upgrade-test-releases'));

/** Our own small manifests with the document's names. */
export const ownReleases = join(import.meta.dirname, '..', '..', 'src', 'sandbox', 'releases');

export function manifestFile(release: string, file: string, folder = releases): string {
  return join(folder, release, 'manifests', file);
}

/**
 * The folder with what is packed, named by its sum: unpacked once a machine. It gets its name when it is whole, so that whoever comes
 * at the same time, or after one that was killed, never reads a half of it.
 */
export function unpacked(packed: string, cache: string): string {
  const bytes = readFileSync(packed);
  const folder = join(cache, createHash('sha256').update(bytes).digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${folder}.`);
  try {
    const files = JSON.parse(zstdDecompressSync(bytes).toString()) as Readonly<Record<string, string>>;
    for (const [name, text] of Object.entries(files)) {
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
