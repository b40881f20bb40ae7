import type { ExitName } from '../kernel/fault.ts';
import type { Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';

/** What a command is run with. */
export interface Called {
  readonly flags: SessionFlags;
  readonly args: Readonly<Record<string, string | undefined>>;
  readonly seams: Seams;
  /** With everything that continues it. An error from then on has its next command for that. */
  asked(flags: SessionFlags): Asked;
}

interface Argument {
  readonly name?: string;
  readonly description: string;
  readonly options?: readonly string[];
  readonly default?: string;
}

/** A command: what its help says, and what it does. */
export interface CommandRow {
  readonly summary: string;
  /** The parts of the procedure that ask for it; for its page, not for its help. */
  readonly procedure: string;
  readonly text: string;
  /** A sentence on when to use it. */
  readonly when: string;
  readonly examples: string[];
  /** After its name. */
  readonly usage?: string;
  readonly args?: Readonly<Record<string, Argument>>;
  /** It looks at a run: what its flags do not say is taken from the run record. */
  readonly usesRecord?: boolean;
  /** Without it, the command performs its stages. */
  run?(called: Called): Promise<ExitName>;
}
