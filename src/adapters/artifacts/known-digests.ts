/** SHA-256 of the manifests that a release publishes, as the program carries them (`build/release-digests.ts`). */
interface Published {
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
  if (platform !== undefined) return cliDigest(platform, release);
  const file = /^manifests\/(.+)$/.exec(path)?.[1];
  if (file === undefined) return undefined;
  return digestIn((await import('../digests/calico.json', { with: { type: 'json' } })).default, release, file);
}

async function cliDigest(platform: string, release: string): Promise<string | undefined> {
  const sums: Readonly<Record<string, Readonly<Record<string, string>>>> = (
    await import('../digests/calico-cli.json', { with: { type: 'json' } })
  ).default;
  return sums[platform]?.[release];
}

/** A release without a sum of its own has that of the release before it. */
export function digestIn({ releases, since }: Published, release: string, file: string): string | undefined {
  const changes = since[file];
  const at = releases.indexOf(release);
  if (changes === undefined || at < 0) return undefined;
  const last = releases.slice(0, at + 1).findLast((one) => changes[one] !== undefined);
  return last === undefined ? undefined : (changes[last] ?? undefined);
}
