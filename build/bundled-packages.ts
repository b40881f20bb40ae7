import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package of others whose code is in ours. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, as the package states it. */
  readonly license: string;
  /** From the root of the project: `node_modules/yaml`. */
  readonly folder: string;
  /** `sha512-…` of the package as it was fetched, from package-lock.json. */
  readonly integrity?: string;
}

type Lock = Readonly<Record<string, { readonly integrity?: string }>>;

const LICENSE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** The packages that the bundled files belong to, each version once, by name. Throws if one does not state a license. */
export function bundledPackages(root: string, files: readonly string[]): readonly BundledPackage[] {
  const folders = new Set(files.map(packageFolder).filter((folder) => folder !== undefined));
  const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { readonly packages: Lock };
  const found = [...folders].sort().map((folder) => describe(root, folder, lock[folder]?.integrity));
  const byVersion = new Map(found.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byVersion].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** `node_modules/@a/b/lib/c.js` → `node_modules/@a/b`; undefined for a file of ours. */
export function packageFolder(file: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
}

function describe(root: string, folder: string, integrity: string | undefined): BundledPackage {
  const stated = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { name, version, license } = stated;
  if (typeof name !== 'string' || typeof version !== 'string' || typeof license !== 'string')
    throw new Error(`${folder}/package.json states no name, version or license`);
  return { name, version, license, folder, ...(integrity ? { integrity } : {}) };
}

/** What the licenses of these packages ask to be passed on: who, which version, the text. */
export function notices(root: string, packages: readonly BundledPackage[]): string {
  const head = 'This program contains code of the packages below, under their own licenses.\n';
  return [head, ...packages.map((one) => notice(root, one))].join(`\n${'='.repeat(80)}\n\n`);
}

function notice(root: string, { name, version, license, folder }: BundledPackage): string {
  const texts = readdirSync(join(root, folder))
    .filter((file) => LICENSE_FILE.test(file))
    .sort()
    .map((file) =>
      readFileSync(join(root, folder, file), 'utf8')
        .replaceAll('\r\n', '\n')
        .trim(),
    );
  const text = texts.length > 0 ? texts.join('\n\n') : 'The package carries no license text of its own.';
  return `${name} ${version}\nLicense: ${license}\n\n${text}\n`;
}
