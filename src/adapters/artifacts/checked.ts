import { basename } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import type { Artifact, Artifacts, KnownSum } from '../../kernel/ports.ts';
import { isUrl } from './place.ts';

/** The sums by which files of releases are known. */
export interface Sums {
  /** The release that is installed: a sum that a person gives is of one of its files. */
  readonly target: string;
  /** What the program carries for a file of a release. */
  shipped(release: string, path: string): Promise<string | undefined>;
  /** What a person gave, by file name. */
  readonly given: ReadonlyMap<string, string>;
}

/**
 * A file with a known sum is used with that sum only, from whatever source. A manifest of the target that comes over the network has to have
 * one: it is applied with all rights. A folder holds what the person put there.
 */
export function checkedArtifacts(inner: Omit<Artifacts, 'sumOf'>, sums: Sums): Artifacts {
  const sumOf = (release: string, path: string) => knownSum(sums, release, path);
  return {
    ...inner,
    sumOf,
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
    'fetch it again, or from another source with --manifest-url',
    'a manifest that you have changed yourself is given with --upgrade-file FILE',
  ]);
}

function unknown({ url, file, sha256 }: Artifact, release: string): Fault {
  return new Fault(
    'blocked',
    `${url} has sha256 ${sha256}, and this program does not know which one ${release} publishes: it is not used`,
    [
      `compare it with what the release publishes, then accept this file: --artifact-digest ${file}=${sha256}`,
      'or give a folder of your own with --manifest-url DIR',
    ],
  );
}
