import type { Installation } from '../../kernel/installation.ts';
import { isOlder, parseRelease } from '../../kernel/release.ts';
import type { OpenStage, Remember } from '../../kernel/stage.ts';

/** What is installed, for the run record, as the cluster soon no longer shows it. The stage's own notes override it. */
export function rememberingInstalled(open: OpenStage, installation: Installation): OpenStage {
  return {
    ...open,
    plan() {
      const plan = open.plan();
      return 'skip' in plan ? plan : { ...plan, remember: { ...rememberOf(installation), ...plan.remember } };
    },
  };
}

/** Path, variant and releases that are installed, and on how many nodes. */
export function rememberOf(installation: Installation): Remember {
  const { path, variant, release, nodes } = installation;
  const oldest = oldestRelease(installation) ?? UNKNOWN_RELEASE;
  return {
    ...{ path, oldest },
    ...(variant === undefined ? {} : { variant }),
    ...(release === undefined ? {} : { source: release }),
    ...(nodes === undefined ? {} : { nodes }),
  };
}

/** In a record: it was looked for when the run began, and not known. */
const UNKNOWN_RELEASE = 'unknown';

/** The oldest of these; undefined if one is unknown, as that one may be older. */
export function oldestOf(releases: readonly (string | undefined)[]): string | undefined {
  if (releases.some((one) => one === undefined || parseRelease(one) === undefined)) return undefined;
  return releases.reduce((oldest, one) => (oldest !== undefined && one !== undefined && isOlder(one, oldest) ? one : oldest));
}

/** Releases of the API servers: they are upgraded apart from the agents (domain §7.3/6). */
export function serverReleases({ components }: Pick<Installation, 'components'>): readonly (string | undefined)[] {
  return components.filter(({ component }) => component === 'apiserver').map(({ release }) => release);
}

/** The oldest of the agents and the API server: owner references were made under it, or under a present one (§4.8). */
export function oldestRelease(installation: Installation): string | undefined {
  const { release, line } = installation;
  return oldestOf([release ?? (line === undefined ? undefined : `${line}.0`), ...serverReleases(installation)]);
}
