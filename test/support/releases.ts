import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { compareVersions, parseRelease } from '../../src/kernel/release.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Releases } from '../../src/sandbox/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET, NETSVC_TARGET } from './target.ts';

/** The published manifests that tests install and read, whole (`build/test-releases.ts` packs them; `test/data/NOTICE`). */
const PACKED = join(import.meta.dirname, '..', 'data', 'releases.json.zst');

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'netsvc-upgrade-test-releases');

/** Release manifests by version, in the layout of an artifact source. */
export const releases = process.env.TEST_NEXT_TARGET === undefined ? unpacked(PACKED, CACHE) : withNext(unpacked(PACKED, CACHE));

/** Our own small manifests with the document's names. */
export const ownReleases = filled('data/netsvc-variants', NETSVC_TARGET);
/** Our own small manifests with the published names. */
export const operatorReleases = filled('fixtures/operator-releases', CALICO_TARGET);

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

/** With a target that there is not, which has the manifests of the newest release (`next-target.ts`). */
function withNext(folder: string): string {
  const tags = readdirSync(folder).sort((a, b) => compareVersions(a, b));
  const newest = tags.at(-1) ?? '';
  const operators = Object.entries(calico.operator.exactReleases ?? {}).filter(([, release]) => release === newest);
  const texts = [[newest, CALICO_TARGET] as const, ...operators.map(([tag]) => [tag, CALICO_OPERATOR] as const)];
  const files = globSync('**/*.yaml', { cwd: join(folder, newest) }).map((file) => {
    const text = readFileSync(join(folder, newest, file), 'utf8');
    return [join(CALICO_TARGET, file), texts.reduce((whole, [from, to]) => whole.replaceAll(from, to), text)] as const;
  });
  const next = written(JSON.stringify(files), CACHE, () => Object.fromEntries(files));
  for (const tag of tags) if (!existsSync(join(next, tag))) symlinkSync(join(folder, tag), join(next, tag));
  return next;
}

/** A folder of releases that we wrote: what is in `target` there is of the target, whatever it is. */
function filled(name: string, release: string): string {
  const folder = join(import.meta.dirname, '..', name);
  const files = globSync('*/manifests/**/*.yaml', { cwd: folder }).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const named = text.replaceAll('TARGET_RELEASE', release).replaceAll('TARGET_OPERATOR', CALICO_OPERATOR);
    return [file.replace(/^target(?=\W)/, release), named] as const;
  });
  return written(JSON.stringify(files), CACHE, () => Object.fromEntries(files));
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
