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

/**
 * Looks at the path before the stage surveys anything. Opening it throws Fault('blocked') on a path that needs the stage
 * and that this version cannot upgrade: a skipped stage would say that all is well.
 */
export function pathStage<Facts>({ paths, needless = {}, survey, ...rest }: PathStage<Facts>): AnyStage {
  return {
    ...rest,
    async open(sources, context) {
      const installation = await readInstalled(sources, context);
      const { path } = installation;
      if (paths.includes(path)) {
        const definition: Stage<Facts> = { ...rest, survey: () => survey(sources, context, installation) };
        return stage(definition).open(sources, context);
      }
      const because = needless[path];
      if (because === undefined) throw notThere(rest.id, path);
      return skipped(because);
    },
  };
}

function skipped(because: string): OpenStage {
  return { findings: () => [], plan: () => ({ skip: because }) };
}

function notThere(id: string, path: InstallPath): Fault {
  return new Fault('blocked', `${id} cannot yet be done for an installation by ${path}`, [
    'this version upgrades manifest installs; see docs/coverage.md for what is still to come',
  ]);
}
