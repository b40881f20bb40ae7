import type { ExitName } from '../kernel/fault.ts';
import { askedOf, beforeCluster, exitCodeOf, wordsOf } from './command-line.ts';
import type { FastPathTable } from './plain-flags.ts';
import { type PlainFlags, readPlainFlags } from './plain-flags.ts';
import { realSeams } from './real-seams.ts';
import type { Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';
import { runStatusCommand } from './status-command.ts';
import { runUnlockCommand } from './unlock-command.ts';

/** Commands that do without oclif: half of what `status` and `unlock` take would be its start, and a tenth of what an upgrade of a few nodes adds. */
export const PLAIN_COMMANDS: Readonly<Record<string, (asked: Asked, seams: Seams) => Promise<ExitName>>> = {
  run: async (asked, seams) => (await import('./stage-command.ts')).runStageCommand(asked, seams),
  status: runStatusCommand,
  unlock: runUnlockCommand,
};

/** What the build knows of the commands. */
type Known = Pick<FastPathTable, 'version' | 'names' | 'plain'>;

/** As `runShell`, without oclif; undefined, and nothing done, if this command line is oclif's to read. */
export async function runPlainShell(argv: readonly string[], name: string, table: Known): Promise<number | undefined> {
  return runPlain(argv, table, realSeams(name, table.version));
}

export async function runPlain(argv: readonly string[], table: Known, seams: Seams): Promise<number | undefined> {
  const [command = '', ...typed] = argv;
  const [run, shapes] = [PLAIN_COMMANDS[command], table.plain[command]];
  const words = shapes && wordsIn(typed, shapes, seams);
  const flags = words && readPlainFlags(words, shapes);
  if (!run || !flags) return undefined;
  // The same values as oclif's, of the type that it gives them: a test compares the two.
  const parsed = { command, typed, words, flags: flags as unknown as SessionFlags, shapes, commands: table.names };
  const asked = askedOf(parsed);
  const work = () =>
    run(asked, seams).catch(async (thrown: unknown) => {
      throw await beforeCluster(thrown, asked);
    });
  return exitCodeOf({ argv, flags: Object.keys(shapes), seams }, work);
}

/** Undefined where there is something to refuse: it is said in one place. */
function wordsIn(typed: readonly string[], shapes: PlainFlags, { env }: Seams): readonly string[] | undefined {
  try {
    return wordsOf(typed, shapes, env);
  } catch {
    return undefined;
  }
}
