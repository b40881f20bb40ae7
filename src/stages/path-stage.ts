import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import type { Installation, InstallPath } from '../core/installation.ts';
import type { Sources } from '../core/ports.ts';
import { type AnyStage, type OpenStage, type Stage, stage } from '../core/stage.ts';
import { readInstalled } from './installed.ts';

/** A stage of some installation paths only; it is given the installation that was found. */
interface PathStage<Facts> extends Omit<Stage<Facts>, 'survey'> {
  /** Paths on which it has something to do. */
  readonly paths: readonly InstallPath[];
  /** Paths that do without it, and why: there it is skipped. On a path named nowhere it refuses to run. */
  readonly needless?: Readonly<Partial<Record<InstallPath, string>>>;
  survey(sources: Sources, context: Context, installation: Installation): Promise<Facts>;
}

/** What one path, or some, do in a stage: facts, checks and plan of their own. The type of the facts is closed over. */
interface PathWay {
  readonly paths: readonly InstallPath[];
  readonly checks: AnyStage['checks'];
  open(head: Head, sources: Sources, context: Context, installation: Installation): Promise<OpenStage>;
}

type Head = Omit<Stage<never>, 'survey' | 'plan' | 'checks'>;

interface StageOfPaths extends Head {
  readonly ways: readonly PathWay[];
  readonly needless?: PathStage<never>['needless'];
}

export function pathWay<Facts>(way: Pick<PathStage<Facts>, 'paths' | 'checks' | 'survey' | 'plan'>): PathWay {
  const { paths, checks, survey, plan } = way;
  return {
    paths,
    checks,
    open: (head, sources, context, installation) =>
      stage<Facts>({ ...head, checks, plan, survey: () => survey(sources, context, installation) }).open(sources, context),
  };
}

/**
 * Looks at the path before the stage surveys anything. Opening it throws Fault('blocked') on a path that needs the stage
 * and that this version cannot upgrade: a skipped stage would say that all is well.
 */
export function stageOfPaths({ ways, needless = {}, ...head }: StageOfPaths): AnyStage {
  return {
    ...head,
    checks: [...new Set(ways.flatMap((way) => way.checks))],
    async open(sources, context) {
      const installation = await readInstalled(sources, context);
      const { path } = installation;
      const way = ways.find(({ paths }) => paths.includes(path));
      if (way) return way.open(head, sources, context, installation);
      const because = needless[path];
      if (because === undefined) throw notThere(head.id, path);
      return skipped(because);
    },
  };
}

/** A stage that does the same on all of its paths. */
export function pathStage<Facts>({ paths, needless = {}, checks, survey, plan, ...head }: PathStage<Facts>): AnyStage {
  return stageOfPaths({ ...head, needless, ways: [pathWay({ paths, checks, survey, plan })] });
}

function skipped(because: string): OpenStage {
  return { findings: () => [], plan: () => ({ skip: because }) };
}

function notThere(id: string, path: InstallPath): Fault {
  return new Fault('blocked', `${id} cannot yet be done for an installation by ${path}`, [
    'this version upgrades manifest and chart installs; see docs/coverage.md for what is still to come',
  ]);
}
