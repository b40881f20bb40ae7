import { Fault } from '../kernel/fault.ts';
import type { Artifact, Artifacts, StoredManifests } from '../kernel/ports.ts';
import type { Profile } from '../kernel/profile.ts';
import { sha256Of } from '../kube/sha256.ts';
import { cliFile } from './service-cli.ts';

/** Where a sandbox has the files of releases from. */
export interface Releases {
  /** Before the release in the address of each file. */
  readonly source: string;
  /** Oldest first. */
  names(): Promise<readonly string[]>;
  read(release: string, path: string): Promise<Uint8Array | undefined>;
}

/** One manifest of some releases, as this program carries it: each document is a line of JSON, which YAML has as well. */
export function storedReleases(stored: StoredManifests, source: string, file: string, names: readonly string[]): Releases {
  return {
    source,
    names: async () => names,
    async read(release, path) {
      if (path !== `manifests/${file}` || !names.includes(release)) return undefined;
      const documents = await stored.documentsOf(release, file);
      return documents && new TextEncoder().encode(documents.map((one) => `${JSON.stringify(one)}\n`).join('---\n'));
    },
  };
}

/** The releases' files as they are; the CLI of each is made up, for none is shipped. */
export function sandboxArtifacts(releases: Releases, profile: Profile): Artifacts {
  const { source } = releases;
  const read = async (release: string, path: string): Promise<Uint8Array | undefined> => {
    if (!(await releases.names()).includes(release)) return undefined;
    if (!path.startsWith(`bin/${profile.cli.program}-`)) return releases.read(release, path);
    const cli = new TextEncoder().encode(cliFile(profile, release));
    return path.endsWith('.sha256') ? new TextEncoder().encode(sha256Of(cli)) : cli;
  };
  return {
    source,
    urlOf: (release, path) => `${source}/${release}/${path}`,
    releases: () => releases.names(),
    sumOf: async () => undefined,
    sumSeen: async () => undefined,
    has: async (release, path) => (await read(release, path)) !== undefined,
    async fetch(release, path) {
      const bytes = await read(release, path);
      if (bytes) return artifactOf(`${source}/${release}/${path}`, bytes);
      const known = (await releases.names()).join(', ');
      throw new Fault('failed', `${source} has no ${release}/${path}`, [`choose one of its releases: ${known}`]);
    },
  };
}

function artifactOf(url: string, bytes: Uint8Array): Artifact {
  return { url, file: url.slice(url.lastIndexOf('/') + 1), bytes, sha256: sha256Of(bytes) };
}
