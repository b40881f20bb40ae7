import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../kernel/argv.ts';
import { localCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Artifact, type Artifacts, NO_SOURCE } from '../../kernel/ports.ts';
import { byAge, parseRelease } from '../../kernel/release.ts';
import { look, or, text } from '../../kernel/step.ts';
import { isLoopback } from '../kube/wire.ts';
import {
  artifactOf,
  cachedArtifacts,
  checkedArtifacts,
  folderOf,
  isUrl,
  notASource,
  refuseWrongContent,
  type Sums,
  within,
} from './checked.ts';
import { type FetchOptions, fetchBytes, NotThere } from './https-fetch.ts';

export interface ArtifactsOptions extends FetchOptions {
  /** `https://…`, or a folder of the same layout: `<release>/<path>`. */
  readonly source: string;
  /** Named where a source has no such release and cannot list the ones it has. */
  readonly lastKnownRelease: string;
  readonly sums: Sums;
}

type Source = Omit<Artifacts, 'sumOf' | 'sumSeen'>;

const LIMIT_BYTES = 50 * 1024 * 1024;

/** Versioned release files (§4.1), by https or from a folder. Throws Fault('usage') for a source that is neither. */
export function openArtifacts(options: ArtifactsOptions): Artifacts {
  const { source } = options;
  // Sums that the user gives count for charts, too, which have a source of their own.
  if (source === '') return checkedArtifacts(noSource(), options.sums);
  return cachedArtifacts(checkedArtifacts(isUrl(source) ? webSource(options) : folderSource(folderOf(source), options), options.sums));
}

/** A profile without an address, and none given: every request throws with what to do. */
function noSource(): Source {
  const refuse = async () => {
    throw new Fault('usage', 'no source of release files is known', ['name one with --manifest-url URL|DIR']);
  };
  const none = async () => undefined;
  return { source: NO_SOURCE, urlOf: (_release, path) => path, fetch: refuse, has: refuse, releases: none };
}

function webSource(options: ArtifactsOptions): Source {
  if (!URL.canParse(options.source)) throw notASource(options.source);
  const base = new URL(options.source.endsWith('/') ? options.source : `${options.source}/`);
  if (base.username !== '' || base.password !== '') {
    throw new Fault(
      'usage',
      `the address of ${base.host} carries a user name or password: it would be seen in reports and in the run record`,
      ['fetch the files yourself and name their folder with --manifest-url DIR, or use a mirror that needs no login from here'],
    );
  }
  refuseClearText(base, options.source);
  const urlOf = (release: string, path: string) => (isUrl(path) ? new URL(path) : new URL(`${release}/${path}`, base));
  return {
    source: options.source,
    urlOf: (release, path) => urlOf(release, path).href,
    releases: async () => undefined,
    fetch: (release, path, limit) => fetchArtifact(urlOf(release, path), options, limit),
    has: (release, path) => isThere(urlOf(release, path), options),
  };
}

function folderSource(folder: string, options: ArtifactsOptions): Source {
  const releases = () => releasesIn(folder);
  return {
    source: folder,
    urlOf: (release, path) => (isUrl(path) ? path : within(folder, release, path)),
    releases,
    async fetch(release, path, limit = LIMIT_BYTES) {
      if (isUrl(path)) return fetchArtifact(new URL(path), options, limit);
      const file = within(folder, release, path);
      const bytes = await readFile(file).catch(async (thrown: NodeJS.ErrnoException) => {
        throw notInFolder(file, thrown, folder, await releases());
      });
      if (bytes.length > limit)
        throw new Fault('failed', `${file} has ${counted(bytes.length, 'byte')}, more than the limit of ${limit}`, [
          'check that it is the right file',
        ]);
      return artifactOf(file, refuseWrongContent(bytes, file));
    },
    async has(release, path) {
      if (isUrl(path)) return isThere(new URL(path), options);
      return stat(within(folder, release, path)).then(
        (found) => found.isFile(),
        () => false,
      );
    },
  };
}

function refuseClearText(url: URL, source: string): void {
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return;
  throw new Fault('usage', `${source}: artifacts over http can be changed on their way`, ['use https, or a folder of the same layout']);
}

async function fetchArtifact(url: URL, options: ArtifactsOptions, limit = LIMIT_BYTES): Promise<Artifact> {
  refuseClearText(url, url.href);
  try {
    const bytes = await fetchBytes(url, options, limit);
    return artifactOf(url.href, refuseWrongContent(bytes, url.href));
  } catch (thrown) {
    if (!(thrown instanceof NotThere)) throw thrown;
    throw new Fault(
      'failed',
      `${url.href} does not exist`,
      [
        ...(url.href.includes(`/${options.lastKnownRelease}/`) ? [] : [takeInstead(options.lastKnownRelease, 'known here')]),
        or('name another source with --manifest-url'),
        look(text`see what is served: ${localCommand`curl -fsSIL ${url.href}`}`),
      ],
      thrown,
    );
  }
}

/** The preflight changes nothing: whether it is the release that was meant is seen there. */
const takeInstead = (release: string, where: string) =>
  text`check with the last release ${where}: ${command`kubectl netsvc-upgrade preflight --release=${release}`}`;

async function isThere(url: URL, options: ArtifactsOptions): Promise<boolean> {
  refuseClearText(url, url.href);
  return fetchBytes(url, options, LIMIT_BYTES, 'HEAD').then(
    () => true,
    (thrown: unknown) => {
      if (thrown instanceof NotThere) return false;
      throw thrown;
    },
  );
}

async function releasesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const known = entries.filter((entry) => !entry.isFile() && parseRelease(entry.name));
  return known.map(({ name }) => name).sort(byAge);
}

function notInFolder(file: string, thrown: NodeJS.ErrnoException, folder: string, releases: readonly string[]): Fault {
  if (thrown.code !== 'ENOENT')
    return new Fault(
      'failed',
      `${file} cannot be read: ${thrown.message}`,
      ['make it readable for this account', look(text`see who may: ${localCommand`ls -ld ${file}`}`)],
      thrown,
    );
  const last = releases.at(-1);
  const there = releases.length > 0 ? `releases there: ${releases.join(', ')}` : `${folder} has no release folders`;
  return new Fault(
    'failed',
    `${file} does not exist`,
    [
      there,
      'name a release with --release, or another source with --manifest-url',
      ...(last === undefined || file.startsWith(join(folder, last)) ? [] : [takeInstead(last, 'there')]),
      look(text`see what is there: ${localCommand`ls -l ${folder}`}`),
    ],
    thrown,
  );
}
