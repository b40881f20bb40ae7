import { spawnSync } from 'node:child_process';
import { patient } from './patience.ts';

/**
 * Describes what needs something of the machine. Where that is not there, it is one test that did not run, with the reason in its title:
 * `npm test` lists it, and refuses more than a few. No other test may be skipped.
 */
export function describeWhere(problem: string | undefined, title: string, body: (this: Mocha.Suite) => void): void {
  if (problem === undefined) describe(title, body);
  else it(`${title}: ${problem}`);
}

export function itWhere(problem: string | undefined, title: string, body: Mocha.Func | Mocha.AsyncFunc): void {
  if (problem === undefined) it(title, body);
  else it(`${title}: ${problem}`);
}

/** Why tests that call this program cannot run; undefined where they can. */
export function lacksProgram(program: string): string | undefined {
  return spawnSync(program, ['--version'], { timeout: patient(20_000) }).error === undefined ? undefined : `there is no ${program} on PATH`;
}

/** Why tests with processes as POSIX has them cannot run. */
export const NOT_POSIX = process.platform === 'win32' ? 'Windows has no such thing' : undefined;

/** Why a file or a process of another user cannot be made. */
export const NO_ROOT = process.getuid?.() === 0 ? undefined : 'only root makes what belongs to another user';

const hasScript = spawnSync('script', ['--version'], { timeout: patient(20_000) }).stdout?.includes('util-linux') === true;
/** Why a program cannot be shown in a pseudo-terminal; undefined where it can. */
export const NO_TERMINAL = hasScript ? undefined : 'script of util-linux is not on PATH';

/** Skips a suite that found only in a hook what is not there, which its title then says. */
export function lacking(hook: Mocha.Context, problem: string): never {
  const suite = hook.test?.parent;
  if (suite) suite.title += `: ${problem}`;
  return hook.skip();
}
