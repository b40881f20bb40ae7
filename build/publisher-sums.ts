import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Runtime, readRuntimeLock, runtimeFile } from './pack-runtimes.ts';

/**
 * `node build/publisher-sums.ts --keys FILE [--from URL]`
 *
 * Compares every Node.js of build/runtimes.lock.json, byte for byte, with what its release team signed: somebody else made the packages that
 * carry them. FILE is the keyring of github.com/nodejs/release-keys. Ends with an error at the first that differs.
 */
export interface Publisher {
  readonly url: string;
  readonly keys: string;
}

export async function comparePublished(runtime: Runtime, publisher: Publisher): Promise<void> {
  const program = runtimeFile(runtime, runtime.file);
  const sums = await signedSums(runtime.version, publisher);
  const name = `${runtime.package}@${runtime.version}`;
  if (runtime.os === 'windows') return assertSum(program, sums, `win-${cpuOf(runtime)}/node.exe`, name);
  const folder = `node-v${runtime.version}-${runtime.os}-${cpuOf(runtime)}`;
  const archive = await fetched(`${publisher.url}/v${runtime.version}/${folder}.tar.gz`);
  assertSum(archive, sums, `${folder}.tar.gz`, `the archive of ${publisher.url}`);
  const published = execFileSync('tar', ['-xzOf', '-', `${folder}/${runtime.file}`], { input: archive, maxBuffer: 2 ** 30 });
  if (!published.equals(program)) throw new Error(`${name}: ${runtime.file} is not the one of ${folder}.tar.gz`);
}

/** By file what the publisher signed; throws if none of the keys signed it. What stands beside the signed text in its file is not read. */
async function signedSums(version: string, { url, keys }: Publisher): Promise<ReadonlyMap<string, string>> {
  const signed = await fetched(`${url}/v${version}/SHASUMS256.txt.asc`);
  const text = execFileSync('gpgv', ['--keyring', resolve(keys), '--output', '-', '-'], { input: signed, stdio: 'pipe' }).toString();
  const lines = text.split('\n').map((line) => /^([0-9a-f]{64}) {2}(\S+)$/.exec(line));
  return new Map(lines.flatMap((found) => (found ? [[found[2] ?? '', found[1] ?? ''] as const] : [])));
}

function assertSum(bytes: Uint8Array, sums: ReadonlyMap<string, string>, file: string, name: string): void {
  const sum = createHash('sha256').update(bytes).digest('hex');
  if (sums.get(file) !== sum)
    throw new Error(`${name} is not what was published:\n  ${file} ${sums.get(file) ?? 'has no sum'}\n  got ${sum}`);
}

async function fetched(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

function cpuOf({ arch }: Runtime): string {
  return arch === 'amd64' ? 'x64' : arch;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { keys: { type: 'string' }, from: { type: 'string', default: 'https://nodejs.org/dist' } } });
  if (values.keys === undefined) throw new Error('name the keyring of github.com/nodejs/release-keys with --keys');
  const { runtimes, builders } = readRuntimeLock();
  for (const runtime of [...runtimes, ...builders]) {
    await comparePublished(runtime, { url: values.from, keys: values.keys });
    process.stdout.write(`${runtime.package}@${runtime.version} is what Node.js published\n`);
  }
}
