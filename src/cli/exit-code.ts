import { EXIT, type ExitName, type Fault } from '../kernel/fault.ts';
import { asksForJson, errorText } from './error-text.ts';
import { toFault } from './faults.ts';
import { inWordsOf } from './name.ts';
import type { Seams } from './seams.ts';
import { tellErr } from './terminal.ts';

/** A command line that runs, and what is needed to say what went wrong with it. */
export interface Running {
  readonly argv: readonly string[];
  /** Names of the flags that the command has. */
  readonly flags: readonly string[];
  readonly seams: Seams;
}

/** The exit code of a command's work; every error is told here, and ends here. */
export async function exitCodeOf({ argv, flags, seams }: Running, work: () => Promise<unknown>): Promise<number> {
  try {
    const exit = await work();
    return isExitName(exit) ? EXIT[exit] : EXIT.done;
  } catch (thrown) {
    const fault = toFault(thrown, { command: argv[0] ?? '', flags });
    const text = inWordsOf(seams.name, errorText(fault, argv, seams.env, defectIn(fault, seams)));
    if (asksForJson(argv, seams.env)) seams.terminal.err(text);
    else tellErr(seams.terminal, text);
    return EXIT[fault.code];
  }
}

/** Where a defect came from, for whoever fixes it. */
function defectIn(fault: Fault, { env }: Seams): readonly string[] {
  return fault.code === 'failed' && env.NETSVC_UPGRADE_DEBUG && fault.cause instanceof Error ? [fault.cause.stack ?? ''] : [];
}

function isExitName(value: unknown): value is ExitName {
  return typeof value === 'string' && Object.hasOwn(EXIT, value);
}
