import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation, InstallPath } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder, parseRelease } from '../../kernel/release.ts';
import { type AnyStage, type OpenStage, openedWith, type Remember, type Stage } from '../../kernel/stage.ts';
import { readInstalled } from './detect.ts';
import { isOperated } from './verdicts.ts';

/** What a stage does on some installation paths; it is given the installation that was found. */
interface OnPaths<Facts> extends Pick<Stage<Facts>, 'checks' | 'plan'> {
  readonly paths: readonly InstallPath[];
  survey(sources: Sources, context: Context, installation: Installation): Promise<Facts>;
}

/** The same with its facts closed over: what a stage does on other paths than its own. */
export interface PathPart {
  readonly paths: readonly InstallPath[];
  readonly checks: AnyStage['checks'];
  open(sources: Sources, context: Context, installation: Installation): Promise<OpenStage>;
}

/** A stage of some installation paths only. */
interface PathStage<Facts> extends OnPaths<Facts>, Omit<Stage<Facts>, 'survey' | 'checks' | 'plan'> {
  /** What it does on further paths. */
  readonly also?: readonly PathPart[];
  /** Paths that do without it, and why: there it is skipped. On a path named nowhere it refuses to run. */
  readonly needless?: Readonly<Partial<Record<InstallPath, string>>>;
}

/** A part of a stage, for the paths that it names. */
export function pathPart<Facts>({ paths, checks, survey, plan }: OnPaths<Facts>): PathPart {
  return {
    paths,
    checks,
    open: async (sources, context, installation) => openedWith({ checks, plan }, await survey(sources, context, installation), context),
  };
}

/** Checks the path first. Throws Fault('blocked') if the stage is needed and not possible: skipping it would look fine. */
export function pathStage<Facts>({ paths, checks, survey, plan, also = [], needless = {}, ...rest }: PathStage<Facts>): AnyStage {
  const parts = [pathPart({ paths, checks, survey, plan }), ...also];
  const all = new Map(parts.flatMap((part) => part.checks.map((check) => [check.id, check])));
  return {
    ...rest,
    checks: [...all.values()],
    async open(sources, context) {
      const installation = await readInstalled(sources, context);
      const { path } = installation;
      const part = parts.find((one) => one.paths.includes(path));
      const unknown = part && unknownEnd(installation, context);
      if (unknown) throw unknown;
      if (part) return rememberingInstalled(await part.open(sources, context, installation), installation);
      const because = needless[path];
      if (because !== undefined) return { findings: () => [], plan: () => ({ skip: because }) };
      throw new Fault('blocked', `${rest.id} has no part for an installation by ${path}`, [
        'nothing was changed; this is a defect of this program: report it with `kubectl netsvc-upgrade report`',
      ]);
    },
  };
}

/** The target is a release whose operator this program does not know the end of: undefined where it does, or no operator is used. */
export function unknownEnd(
  installation: Pick<Installation, 'path'>,
  { profile, goal }: Pick<Context, 'profile' | 'goal'>,
): Fault | undefined {
  const since = profile.operator.end?.since;
  if (!isOperated(installation) || since === undefined || !isOlder(goal.release, since)) return undefined;
  return new Fault(
    'blocked',
    `${goal.release} is no target for an installation by ${installation.path}: its operator ends an upgrade by other signs`,
    [`choose ${since} or later with --release`],
  );
}

/** What is installed, for the run record, as the cluster soon no longer shows it. The stage's own notes override it. */
function rememberingInstalled(open: OpenStage, installation: Installation): OpenStage {
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
  const { path, variant, dataPlane, release, nodes } = installation;
  const oldest = oldestRelease(installation) ?? UNKNOWN_RELEASE;
  return {
    ...{ path, oldest },
    ...(variant === undefined ? {} : { variant }),
    ...(dataPlane === undefined ? {} : { dataPlane }),
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

/** The oldest of the agents and the API server: owner references were made under it, or under a present one (§4.8). */
export function oldestRelease(installation: Installation): string | undefined {
  const { release, line, components } = installation;
  // API servers are upgraded apart from the agents (domain §7.3/6).
  const servers = components.filter(({ component }) => component === 'apiserver');
  return oldestOf([release ?? (line === undefined ? undefined : `${line}.0`), ...servers.map((one) => one.release)]);
}
