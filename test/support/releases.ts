import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';

/** The published manifests that tests install and read, whole (`build/test-releases.ts` packs them; `test/data/NOTICE`). */
const PACKED = join(import.meta.dirname, '..', 'data', 'releases.json.zst');

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'netsvc-upgrade-test-releases');

/** Release manifests by version, in the layout of an artifact source. */
export const releases = unpacked(PACKED, CACHE);

/** Our own small manifests with the document's names: those of the demo, and the variants that only tests need. */
export const ownReleases = gathered(
  [join(import.meta.dirname, '..', '..', 'src', 'sandbox', 'releases'), join(import.meta.dirname, '..', 'data', 'netsvc-variants')],
  CACHE,
);

export function manifestFile(release: string, file: string, folder = releases): string {
  return join(folder, release, 'manifests', file);
}

type Files = Readonly<Record<string, string>>;

/** The folder with what is packed. */
export function unpacked(packed: string, cache: string): string {
  const bytes = readFileSync(packed);
  return written(bytes, cache, () => JSON.parse(zstdDecompressSync(bytes).toString()) as Files);
}

/** One folder with the files of several. */
function gathered(folders: readonly string[], cache: string): string {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      return entry.isFile() ? [[relative(folder, file), readFileSync(file, 'utf8')] as const] : [];
    }),
  );
  return written(JSON.stringify(files), cache, () => Object.fromEntries(files));
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
