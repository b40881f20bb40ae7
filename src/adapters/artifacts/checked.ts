import { basename, isAbsolute, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localCommand } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Artifact, Artifacts, KnownSum } from '../../kernel/ports.ts';
import { look, or, text } from '../../kernel/step.ts';
import { sha256Of } from '../../kube/sha256.ts';

/** The sums by which files of releases are known. */
export interface Sums {
  /** The release that is installed: a sum that the user gives is of one of its files. */
  readonly target: string;
  /** What the program carries for a file of a release. */
  shipped(release: string, path: string): Promise<string | undefined>;
  /** What the user gave, by file name. */
  readonly given: ReadonlyMap<string, string>;
}

/** A program of a release is the largest of its files. */
const LARGEST_BYTES = 300 * 1024 * 1024;

/**
 * A file with a known sum is used with that sum only, from any source. A target manifest from the network must have one, as it is applied
 * with all rights; a folder holds what the user put there.
 */
export function checkedArtifacts(inner: Omit<Artifacts, 'sumOf' | 'sumSeen'>, sums: Sums): Artifacts {
  const sumOf = (release: string, path: string) => knownSum(sums, release, path);
  return {
    ...inner,
    sumOf,
    async sumSeen(release, path) {
      if (!(await inner.has(release, path))) return undefined;
      const { file, sha256, url } = await inner.fetch(release, path, LARGEST_BYTES);
      return { file, sha256, url };
    },
    async fetch(release, path, limit) {
      const artifact = await inner.fetch(release, path, limit);
      const known = await sumOf(release, path);
      if (known && known.sha256 !== artifact.sha256) throw otherThan(known, artifact);
      if (!known && release === sums.target && path.startsWith('manifests/') && isUrl(artifact.url)) throw unknown(artifact, release);
      return artifact;
    },
  };
}

async function knownSum({ target, shipped, given }: Sums, release: string, path: string): Promise<KnownSum | undefined> {
  const own = await shipped(release, path);
  const name = basename(path);
  const theirs = release === target ? given.get(name) : undefined;
  if (own !== undefined && theirs !== undefined && own !== theirs)
    throw new Fault('usage', `--artifact-digest says sha256 ${theirs} of ${name}, but ${release} publishes ${own}`, [
      'leave it out; a manifest that you have changed yourself is given with --upgrade-file FILE',
    ]);
  if (own !== undefined) return { sha256: own, from: 'this program' };
  return theirs === undefined ? undefined : { sha256: theirs, from: '--artifact-digest' };
}

function otherThan({ sha256, from }: KnownSum, artifact: Artifact): Fault {
  return new Fault('failed', `${artifact.url} has sha256 ${artifact.sha256}, but ${from} says ${sha256}: it is not used`, [
    isUrl(artifact.url)
      ? look(text`see whether it is the same again: ${localCommand`curl -fsSL ${artifact.url} | sha256sum`}`)
      : look(text`see whether it is the same again: ${localCommand`sha256sum ${artifact.url}`}`),
    or('fetch it from another source with --manifest-url'),
    'a manifest that you have changed yourself is given with --upgrade-file FILE',
  ]);
}

function unknown({ url, file, sha256 }: Artifact, release: string): Fault {
  return new Fault(
    'blocked',
    `${url} has sha256 ${sha256}, and this program does not know which one ${release} publishes: it is not used`,
    [
      `compare it with what the release publishes, then accept this file: --artifact-digest ${file}=${sha256}`,
      or('give a folder of your own with --manifest-url DIR'),
    ],
  );
}

/** A proxy's login page or an empty answer must not be taken for a release file. */
export function refuseWrongContent(bytes: Uint8Array, url: string): Uint8Array {
  const start = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart().toLowerCase();
  const problem =
    bytes.length === 0 ? 'is empty' : start.startsWith('<!doctype') || start.startsWith('<html') ? 'is a web page' : undefined;
  if (problem)
    throw new Fault('failed', `${url} ${problem}, not a release file`, ['check --manifest-url and the proxy between here and there']);
  return bytes;
}

/** `url` is the address or the path that the bytes came from. */
export function artifactOf(url: string, bytes: Uint8Array): Artifact {
  const file = isUrl(url) ? decodeURIComponent(posix.basename(new URL(url).pathname)) : basename(url);
  return { url, file, bytes, sha256: sha256Of(bytes) };
}

export const isUrl = (path: string): boolean => /^https?:\/\//.test(path);

/** A bare path has no scheme; a scheme of one letter is a drive. */
export function folderOf(source: string): string {
  try {
    if (source.startsWith('file://')) return fileURLToPath(source);
  } catch (thrown) {
    throw notASource(source, thrown);
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source)) throw notASource(source);
  return source;
}

export function notASource(source: string, cause?: unknown): Fault {
  const advice = 'give --manifest-url an https:// address, or a folder of the same layout';
  return new Fault('usage', `${source} is not a source of release files`, [advice], cause);
}

/** A file of a folder source. Throws Fault('usage') for a name that leads out of it. */
export function within(folder: string, release: string, path: string): string {
  const file = join(folder, release, path);
  const inside = relative(folder, file);
  if (!isAbsolute(inside) && inside !== '' && !/^\.\.(?:[\\/]|$)/.test(inside)) return file;
  throw new Fault('usage', `${path} of ${release} leaves ${folder}`, ['correct --release and the profile']);
}

/** An address that gave no answer is not asked again before. */
const FAILED_MS = 60_000;

/**
 * Fetches each release file once, so that plan and run see the same bytes. Missing files and failures are asked for again; whether a file is
 * there is not asked again within a minute where nobody answered.
 */
export function cachedArtifacts(inner: Artifacts, now: () => number = () => performance.now()): Artifacts {
  const failed = new Map<string, { readonly thrown: unknown; readonly until: number }>();
  const files = new Map<string, Promise<Artifact>>();
  const present = new Map<string, Promise<boolean>>();
  return {
    ...inner,
    async fetch(release, path, limitBytes) {
      const key = keyOf(release, path);
      const file = await remembered(files, key, () => inner.fetch(release, path, limitBytes));
      if (limitBytes === undefined || file.bytes.length <= limitBytes) return file;
      throw new Fault('failed', `${file.url} is larger than the limit of ${limitBytes} bytes`, ['check that it is the right file']);
    },
    async has(release, path) {
      const key = keyOf(release, path);
      if (files.has(key)) return true;
      const last = failed.get(key);
      if (last && now() < last.until) throw last.thrown;
      const isThere = await remembered(present, key, () => inner.has(release, path)).catch((thrown: unknown) => {
        failed.set(key, { thrown, until: now() + FAILED_MS });
        throw thrown;
      });
      if (!isThere) present.delete(key);
      return isThere;
    },
  };
}

function keyOf(release: string, path: string): string {
  return `${release} ${path}`;
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const answer = known.get(key) ?? ask();
  known.set(key, answer);
  answer.catch(() => known.delete(key));
  return answer;
}
