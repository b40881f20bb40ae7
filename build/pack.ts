import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { contents, type Product, readProduct } from './pack-contents.ts';
import { krewManifest, type PackedArchive, releasePlace } from './pack-krew.ts';
import { type Runtime, type RuntimeLock, readRuntimeLock } from './pack-runtimes.ts';
import { tarGz } from './tar.ts';

/**
 * `npm run pack [-- --platform linux/amd64 …] [--out DIR] [--place URL] [--level 1…9] [--check]`
 *
 * Makes an archive per platform, SHA256SUMS and the krew manifest from a fresh build; `--check` makes each archive twice and compares. A
 * pack of all platforms into the usual folder also updates plugin.yaml.
 */
interface Wishes {
  readonly platforms: readonly string[];
  readonly out: string;
  readonly place: string | undefined;
  readonly level: number;
  readonly check: boolean;
}

const root = join(import.meta.dirname, '..');
const USUAL = join(root, 'archives');

function main(): void {
  const wishes = readWishes();
  buildFresh(wishes.check);
  const product = readProduct(root);
  const lock = readRuntimeLock();
  // A folder that somebody named may hold other things.
  if (wishes.out === USUAL) rmSync(USUAL, { recursive: true, force: true });
  mkdirSync(wishes.out, { recursive: true });
  const archives = chosen(lock, wishes.platforms).map((runtime) => packOne(product, runtime, lock, wishes));
  if (wishes.check) packAgain(archives, lock, wishes);
  writeIndex(product, archives, wishes);
}

function readWishes(): Wishes {
  const { values } = parseArgs({
    options: {
      platform: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
      place: { type: 'string' },
      level: { type: 'string', default: '9' },
      check: { type: 'boolean', default: false },
    },
  });
  return {
    platforms: values.platform,
    out: values.out ? resolve(values.out) : USUAL,
    place: values.place,
    level: Number(values.level),
    check: values.check,
  };
}

/** A release must not carry what an edit left behind; a single archive for a test may come from the build that is there. */
function buildFresh(always: boolean): void {
  execFileSync(process.execPath, [join(root, 'build', 'build.ts'), ...(always ? [] : ['--if-stale'])], { stdio: 'inherit' });
}

function chosen({ runtimes }: RuntimeLock, platforms: readonly string[]): readonly Runtime[] {
  const known = runtimes.map(({ os, arch }) => `${os}/${arch}`);
  const strange = platforms.find((platform) => !known.includes(platform));
  if (strange !== undefined) throw new Error(`no runtime for ${strange}; choose from ${known.join(', ')}`);
  return platforms.length === 0 ? runtimes : runtimes.filter(({ os, arch }) => platforms.includes(`${os}/${arch}`));
}

function packOne(product: Product, runtime: Runtime, lock: RuntimeLock, { out, level }: Wishes): PackedArchive {
  const { os, arch } = runtime;
  const bytes = tarGz(contents(product, runtime, lock), level);
  const file = `netsvc-upgrade_v${product.version}_${os}_${arch}.tar.gz`;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(out, file), bytes);
  process.stdout.write(`${sha256}  ${file}  ${Math.round(bytes.length / 1e5) / 10} MB\n`);
  return { os, arch, file, sha256 };
}

/** Builds and packs all of it once more. Throws if any archive differs. */
function packAgain(first: readonly PackedArchive[], lock: RuntimeLock, wishes: Wishes): void {
  const out = mkdtempSync(join(tmpdir(), 'netsvc-pack-again-'));
  try {
    buildFresh(true);
    const product = readProduct(root);
    const again = chosen(lock, wishes.platforms).map((runtime) => packOne(product, runtime, lock, { ...wishes, out }));
    const other = again.filter(({ sha256 }, index) => sha256 !== first[index]?.sha256).map(({ file }) => file);
    if (other.length > 0) throw new Error(`two packs of the same sources differ: ${other.join(', ')}`);
    process.stdout.write(`packed twice, ${again.length} times the same\n`);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function writeIndex(product: Product, archives: readonly PackedArchive[], { out, place, platforms }: Wishes): void {
  const template = readFileSync(join(root, 'plugin.yaml'), 'utf8');
  const manifest = krewManifest(template, product.version, archives, place ?? releasePlace(template, product.version));
  const written = archives.map(({ file, sha256 }) => `${sha256}  ${file}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), written.join(''));
  writeFileSync(join(out, 'netsvc-upgrade.yaml'), manifest);
  if (out === USUAL && platforms.length === 0 && place === undefined) writeFileSync(join(root, 'plugin.yaml'), manifest);
}

main();
