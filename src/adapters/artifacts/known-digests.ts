import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Fault, messageOf } from '../../kernel/fault.ts';

/** SHA-256 of the manifests that a release publishes, as the program carries them (`build/release-digests.ts`). */
export interface Published {
  /** In order of their numbers. */
  readonly releases: readonly string[];
  /** By file below `manifests/`: the sum since a release; null: it is not published there. */
  readonly since: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
}

/**
 * The SHA-256 published for a manifest (`manifests/calico.yaml`) or the CLI (path or address ending in `calicoctl-linux-amd64`). Undefined
 * for other services, releases newer than this program, and other files.
 */
export async function knownDigest(profile: string, release: string, path: string): Promise<string | undefined> {
  if (profile !== 'calico') return undefined;
  const platform = /(?:^|\/)calicoctl-([a-z0-9-]+)$/.exec(path)?.[1];
  if (platform !== undefined) {
    const { default: sums } = await import('../digests/calico-cli.json', { with: { type: 'json' } });
    return (sums as Readonly<Record<string, Readonly<Record<string, string>>>>)[platform]?.[release];
  }
  const file = /^manifests\/(.+)$/.exec(path)?.[1];
  if (file === undefined) return undefined;
  return digestIn((await import('../digests/calico.json', { with: { type: 'json' } })).default, release, file);
}

/** A release without a sum of its own has that of the release before it. */
export function digestIn({ releases, since }: Published, release: string, file: string): string | undefined {
  const changes = since[file];
  const at = releases.indexOf(release);
  if (changes === undefined || at < 0) return undefined;
  const last = releases.slice(0, at + 1).findLast((one) => changes[one] !== undefined);
  return last === undefined ? undefined : (changes[last] ?? undefined);
}

const SUM = /^(?:sha256:)?([0-9a-f]{64})$/i;

/**
 * The sums of `--artifact-digest` by file name: each value is `NAME=SHA256` or a file as `sha256sum` writes it. Throws Fault('usage') for
 * anything else, and for a name with two sums.
 */
export async function givenSums(values: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const sums = new Map<string, string>();
  for (const value of values) {
    for (const [name, sum] of pairOf(value) ?? (await listed(value))) {
      const before = sums.get(name) ?? sum;
      if (before !== sum)
        throw new Fault('usage', `--artifact-digest has two sums of ${name}: ${before} and ${sum}`, ['give the one of the target release']);
      sums.set(name, sum);
    }
  }
  return sums;
}

type Pairs = readonly (readonly [name: string, sum: string])[];

function pairOf(value: string): Pairs | undefined {
  const equals = value.lastIndexOf('=');
  const sum = SUM.exec(value.slice(equals + 1))?.[1];
  if (equals <= 0 || sum === undefined) return undefined;
  return [[basename(value.slice(0, equals)), sum.toLowerCase()]];
}

async function listed(file: string): Promise<Pairs> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw notSums(file, messageOf(thrown), thrown);
  });
  const pairs = text.split('\n').flatMap((line) => {
    const [, sum, name = ''] = /^([0-9a-f]{64})\s+\*?(.+)$/i.exec(line.trim()) ?? [];
    return sum === undefined ? [] : [[basename(name), sum.toLowerCase()] as const];
  });
  if (pairs.length === 0) throw notSums(file, 'it has no line with a sum and a name');
  return pairs;
}

function notSums(value: string, why: string, cause?: unknown): Fault {
  return new Fault(
    'usage',
    `--artifact-digest ${value} is neither NAME=SHA256 nor a file of sums: ${why}`,
    ['write --artifact-digest calico.yaml=SHA256, or name a file that sha256sum wrote'],
    cause,
  );
}
