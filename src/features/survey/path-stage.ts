import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Installation, type InstallPath, isOperated } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder, parseRelease } from '../../kernel/release.ts';
import { type AnyStage, type OpenStage, openedWith, type Remember, type Stage } from '../../kernel/stage.ts';
import { readInstalled } from './detect.ts';

/** What a stage does on an install path; it is given the installation that was found. */
interface OnPath<Facts> extends Pick<Stage<Facts>, 'checks' | 'plan'> {
  survey(sources: Sources, context: Context, installation: Installation): Promise<Facts>;
}

/** The same with its facts closed over. */
export interface PathPart {
  readonly checks: AnyStage['checks'];
  open(sources: Sources, context: Context, installation: Installation): Promise<OpenStage>;
}

/** What a stage does on each install path; a text says why the path does without it. */
export type PathParts = Readonly<Record<InstallPath, PathPart | string>>;

interface PathStage extends Omit<AnyStage, 'checks' | 'open'> {
  readonly on: PathParts;
}

export function pathPart<Facts>({ checks, survey, plan }: OnPath<Facts>): PathPart {
  return {
    checks,
    open: async (sources, context, installation) => openedWith({ checks, plan }, await survey(sources, context, installation), context),
  };
}

/** What an upgrade does, or in a rollback the other. */
export function eitherWay(forward: PathPart, back: PathPart): PathPart {
  const checks = [...forward.checks, ...back.checks];
  return {
    checks: [...new Map(checks.map((check) => [check.id, check])).values()],
    open: (sources, context, installation) => (context.goal.takesBack ? back : forward).open(sources, context, installation),
  };
}

/** A stage that is another one on each install path. */
export function pathStage({ on, ...rest }: PathStage): AnyStage {
  const parts = Object.values(on).filter((part) => typeof part !== 'string');
  return {
    ...rest,
    checks: [...new Map(parts.flatMap(({ checks }) => checks.map((check) => [check.id, check]))).values()],
    async open(sources, context) {
      const installation = await readInstalled(sources, context);
      const part = on[installation.path];
      if (typeof part === 'string') return { findings: () => [], plan: () => ({ skip: part }) };
      const unknown = unknownEnd(installation, context);
      if (unknown) throw unknown;
      return rememberingInstalled(await part.open(sources, context, installation), installation);
    },
  };
}

/** The target is a release whose operator this program does not know the end of: undefined where it does, or no operator is used. */
export function unknownEnd(
  installation: Pick<Installation, 'path'>,
  { profile, goal }: Pick<Context, 'profile' | 'goal'>,
): Fault | undefined {
  const { since, earlier = [] } = profile.operator.end ?? {};
  if (!isOperated(installation) || since === undefined || !isOlder(goal.release, since)) return undefined;
  if (goal.takesBack && earlier.some((one) => !isOlder(goal.release, one.since))) return undefined;
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
