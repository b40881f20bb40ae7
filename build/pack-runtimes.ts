import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A Node.js for one platform, pinned by the sum of the package that carries it (build/runtimes.lock.json). */
export interface Runtime {
  /** In krew's and Go's words. */
  readonly os: 'linux' | 'darwin' | 'windows';
  readonly arch: 'amd64' | 'arm64';
  readonly package: string;
  readonly version: string;
  /** The program inside the package. */
  readonly file: string;
  /** `sha512-…`, of the package's tarball. */
  readonly integrity: string;
}

/** The runtimes that go into archives, and the ones that are run here to make Windows programs of the same version. */
export interface RuntimeLock {
  readonly runtimes: readonly Runtime[];
  readonly builders: readonly Runtime[];
}

export function readRuntimeLock(): RuntimeLock {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'runtimes.lock.json'), 'utf8')) as RuntimeLock;
}

/** One file of a runtime's package. The package is fetched by npm once, kept, and its sum is checked on every use; throws if it differs. */
export function runtimeFile(runtime: Runtime, path: string): Buffer {
  return execFileSync('tar', ['-xzOf', '-', `package/${path}`], { input: verified(runtime), maxBuffer: 2 ** 30 });
}

function verified(runtime: Runtime): Buffer {
  const kept = keptPackage(runtime);
  if (!existsSync(kept)) fetch(runtime, kept);
  const bytes = readFileSync(kept);
  const sum = integrityOf(bytes);
  if (sum === runtime.integrity) return bytes;
  rmSync(kept);
  throw new Error(`${runtime.package}@${runtime.version} is not what the lock pins:\n  lock ${runtime.integrity}\n  got  ${sum}`);
}

export function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

function keptPackage({ package: name, version }: Runtime): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'netsvc-upgrade-runtimes', `${name}-${version}.tgz`);
}

/** npm knows the registry, the proxy and the credentials of this machine. No script of the package is run. */
function fetch({ package: name, version }: Runtime, to: string): void {
  const folder = join(to, '..');
  mkdirSync(folder, { recursive: true });
  const partial = mkdtempSync(join(folder, 'partial-'));
  try {
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', partial, `${name}@${version}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [file] = readdirSync(partial);
    if (file === undefined) throw new Error(`npm fetched nothing for ${name}@${version}`);
    renameSync(join(partial, file), to);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
