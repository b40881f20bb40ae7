import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { BundledPackage } from './bundled-packages.ts';
import { entryPoint } from './pack-krew.ts';
import { type Runtime, type RuntimeLock, runtimeFile } from './pack-runtimes.ts';
import { sbom } from './pack-sbom.ts';
import { singleExecutable } from './pack-windows.ts';
import type { ArchiveFile } from './tar.ts';

/** Of dist, what only the build itself needs, or what lies at the top instead. */
const LEFT_OUT = new Set(['dist/stamp', 'dist/packages.json', 'dist/THIRD-PARTY-NOTICES.txt']);
const COPIED = ['LICENSE', 'NOTICE', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'oclif.manifest.json'];

/** What hints, pages of checks and the README lead to: whole, for its pages lead to each other. A test keeps it small. */
const LED_TO = ['docs'];

/** The built program of a checkout, the same in every archive. */
export interface Product {
  readonly root: string;
  readonly name: string;
  readonly version: string;
  /** What oclif is told of it. */
  readonly oclif: object;
  readonly packages: readonly BundledPackage[];
}

/** Reads what `npm run build` made. */
export function readProduct(root: string): Product {
  const { name, version, oclif } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Pick<
    Product,
    'name' | 'version' | 'oclif'
  >;
  const packages = JSON.parse(readFileSync(join(root, 'dist', 'packages.json'), 'utf8')) as readonly BundledPackage[];
  return { root, name, version, oclif, packages };
}

/** Every file of the archive for this runtime's platform. */
export function contents(product: Product, runtime: Runtime, lock: RuntimeLock): readonly ArchiveFile[] {
  const text = (path: string, content: string) => ({ path, content: Buffer.from(content) });
  return [
    ...programs(product.root, runtime, lock),
    ...documents(product.root),
    ...folderOf(product.root, 'dist').filter(({ path }) => !LEFT_OUT.has(path)),
    copied(product.root, 'dist/THIRD-PARTY-NOTICES.txt', 'THIRD-PARTY-NOTICES.txt'),
    text('LICENSE-node.txt', nodeLicense(runtime, lock)),
    // Not the whole package.json: nothing here is installed or resolved any more. oclif reads its own part.
    text('package.json', `${JSON.stringify({ name: product.name, version: product.version, type: 'module', oclif: product.oclif })}\n`),
    text('sbom.cdx.json', sbom({ ...product, runtime })),
  ];
}

/** What there is to read, at the same places as in the sources. */
export function documents(root: string): readonly ArchiveFile[] {
  return [
    ...COPIED.filter((file) => existsSync(join(root, file))).map((file) => copied(root, file, file)),
    ...LED_TO.flatMap((folder) => folderOf(root, folder)),
  ];
}

function programs(root: string, runtime: Runtime, lock: RuntimeLock): readonly ArchiveFile[] {
  if (runtime.os === 'windows') {
    const program = { path: entryPoint('windows'), content: singleExecutable(runtime, lock), executable: true };
    return [program, { path: 'bin/netsvcctl-upgrade.cmd', content: Buffer.from(SECOND_NAME) }];
  }
  return [{ path: 'bin/node', content: runtimeFile(runtime, runtime.file), executable: true }, ...scripts(root)];
}

/** The second name on Windows: a second .exe would double the archive. */
const SECOND_NAME =
  '@setlocal\r\n@set "NETSVC_ARGV0=netsvcctl-upgrade"\r\n@"%~dp0kubectl-netsvc_upgrade.exe" %*\r\n@exit /b %ERRORLEVEL%\r\n';

/** What starts the program, under both names: krew allows no links in an archive, so the second is a copy. */
export function scripts(root: string): readonly ArchiveFile[] {
  const program = 'bin/kubectl-netsvc_upgrade';
  const completion = 'bin/kubectl_complete-netsvc_upgrade';
  const files = [copied(root, program, program), copied(root, program, 'bin/netsvcctl-upgrade'), copied(root, completion, completion)];
  return files.map((file) => ({ ...file, executable: true }));
}

/** The packages for Windows carry no license; the text is that of the same version elsewhere. */
function nodeLicense(runtime: Runtime, { runtimes, builders }: RuntimeLock): string {
  const source = [runtime, ...runtimes, ...builders].find((one) => one.version === runtime.version && one.os !== 'windows');
  if (!source) throw new Error(`no package in build/runtimes.lock.json carries the license of Node.js ${runtime.version}`);
  return runtimeFile(source, 'LICENSE').toString('utf8');
}

function copied(root: string, from: string, to: string): ArchiveFile {
  return { path: to, content: readFileSync(join(root, from)) };
}

/** Every file of a folder, under its name. */
function folderOf(root: string, folder: string): readonly ArchiveFile[] {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return paths.map((path) => copied(root, path, path));
}
