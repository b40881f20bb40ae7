import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly version?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<string, Locked>>;

export const SIZES_PAGE = 'docs/internals/decisions/dependency-sizes.md';

/** What `npm install` of the program brings to a machine, counted from the lock file and measured in node_modules. */
export function dependencySizes(root: string): string {
  const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { readonly packages: Lock };
  const direct = Object.keys(lock['']?.dependencies ?? {}).sort();
  const all = reached(lock, direct);
  const bundled = new Set(bundledFolders(root));
  const rows = direct.map((name) => row(root, lock, name, direct));
  const scripts = all.filter((folder) => lock[folder]?.hasInstallScript);
  return [
    '# Production dependencies, counted',
    '',
    'Written by `node build/dependency-sizes.ts`; a test holds it to the lock file and to what is installed. Why each is here:',
    '[dependencies](dependencies.md).',
    '',
    `npm installs ${all.length} packages, ${kilobytes(root, lock, all)} kB. Code of ${bundled.size} of them is in the program`,
    `(\`dist/packages.json\`); the archives hold that code alone. Packages that run something when they are installed: ${scripts.length}.`,
    '',
    '| Dependency | Version | Packages with it | kB with them | Only because of it |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '“Only because of it”: packages that would go if it went.',
    '',
  ].join('\n');
}

function row(root: string, lock: Lock, name: string, direct: readonly string[]): string {
  const brought = reached(lock, [name]);
  const others = direct.filter((one) => one !== name);
  const without = new Set(reached(lock, others));
  const own = brought.filter((one) => !without.has(one)).length;
  return `| \`${name}\` | ${lock[`node_modules/${name}`]?.version ?? ''} | ${brought.length} | ${kilobytes(root, lock, brought)} | ${own} |`;
}

/** Folders of the packages that these need, themselves included, as Node finds them: nested ones first. */
function reached(lock: Lock, names: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const open = names.map((name) => ({ name, from: '' }));
  for (let next = open.pop(); next; next = open.pop()) {
    const folder = resolve(lock, next.name, next.from);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    for (const name of Object.keys(lock[folder]?.dependencies ?? {})) open.push({ name, from: folder });
  }
  return [...found].sort();
}

function resolve(lock: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (lock[candidate]) return candidate;
    if (folder === '') return undefined;
  }
}

function kilobytes(root: string, lock: Lock, folders: readonly string[]): number {
  const bytes = folders.reduce((sum, folder) => sum + bytesIn(installed(root, folder, lock[folder]?.version)), 0);
  return Math.round(bytes / 1000);
}

/** Where npm put this version: a tree that has grown may hold it higher up than the lock file says. */
function installed(root: string, folder: string, version: string | undefined): string {
  const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
  for (const candidate of [folder, `node_modules/${name}`]) {
    const file = join(root, candidate, 'package.json');
    if (existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as Locked).version === version) return join(root, candidate);
  }
  throw new Error(`${folder} ${version} is not installed: run npm ci`);
}

/** Packages inside of it count for themselves. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesIn(path);
    return sum + lstatSync(path).size;
  }, 0);
}

function bundledFolders(root: string): readonly string[] {
  const packages = JSON.parse(readFileSync(join(root, 'dist', 'packages.json'), 'utf8')) as readonly { readonly folder: string }[];
  return packages.map(({ folder }) => folder);
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  writeFileSync(join(root, SIZES_PAGE), dependencySizes(root));
}
