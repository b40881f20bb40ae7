import type { Acceptance, Context } from '../core/context.ts';
import { type ExitName, messageOf } from '../core/fault.ts';
import type { CarriedFlag } from '../ui/carry.ts';
import type { Palette } from '../ui/colour.ts';
import { palette } from '../ui/colour.ts';
import type { Progress } from '../ui/progress.ts';
import type { OutputDocument } from './documents.ts';
import { inWordsOf } from './name.ts';
import { formatOfFile, type HumanLines, type OutputFormat, outputText } from './output.ts';
import { assertPlace } from './output-place.ts';
import type { CommonFlags, Composition, Interrupts, Seams } from './seams.ts';

export interface SessionFlags extends CommonFlags {
  readonly output: OutputFormat;
  readonly 'report-file'?: string;
}

/** A command as it was asked for. */
export interface Asked {
  /** `apply`. */
  readonly command: string;
  /** The command line after the program's name, without credentials: what continues it. */
  readonly typed: string;
  /** Flags that a next command needs as well. */
  readonly carried: readonly CarriedFlag[];
  /** Names of the commands that this version has. */
  readonly commands: readonly string[];
  readonly flags: SessionFlags;
  /** The command needs no names of the service: none are looked up. */
  readonly anyProfile?: boolean;
}

/** One command on one cluster, from the first request to the last line. */
export class Session {
  readonly seams: Seams;
  readonly asked: Asked;
  readonly composition: Composition;
  readonly interrupts: Interrupts;
  readonly outPalette: Palette;
  readonly errPalette: Palette;

  constructor(seams: Seams, asked: Asked, composition: Composition, interrupts: Interrupts) {
    this.seams = seams;
    this.asked = asked;
    this.composition = composition;
    this.interrupts = interrupts;
    const { terminal, env } = seams;
    this.outPalette = palette({ isTerminal: terminal.outIsTerminal, env });
    this.errPalette = palette({ isTerminal: terminal.errIsTerminal, env });
  }

  get context(): Context {
    return this.composition.context;
  }

  /** The same with risks that the person has just taken on. */
  accepting(more: readonly Acceptance[]): Session {
    const { options } = this.context;
    const context = { ...this.context, options: { ...options, accept: [...options.accept, ...more] } };
    return new Session(this.seams, this.asked, { ...this.composition, context }, this.interrupts);
  }

  /** A line for the person; never on stdout. */
  say(line: string): void {
    this.seams.terminal.err(`${inWordsOf(this.seams.name, line)}\n`);
  }

  async progress(phase: 'plan' | 'run', stages: readonly { readonly id: string; readonly title: string }[]): Promise<Progress> {
    const { terminal, every, env } = this.seams;
    const quiet = ['json', 'yaml', 'name', 'markdown', 'junit'].includes(this.asked.flags.output);
    const mode = quiet ? 'silent' : terminal.errIsTerminal && env.TERM !== 'dumb' ? 'tree' : 'lines';
    const { startProgress } = await import('../ui/progress.ts');
    return startProgress({
      mode,
      phase,
      stages,
      palette: this.errPalette,
      write: (text) => terminal.err(inWordsOf(this.seams.name, text)),
      every,
    });
  }

  /** The command's one document: on stdout, and in the report file if one is asked for. */
  async present(document: OutputDocument, human: HumanLines): Promise<void> {
    const { flags } = this.asked;
    const programOf = this.composition.tools.programOf;
    const text = async (format: OutputFormat) => inWordsOf(this.seams.name, await outputText(document, format, human, programOf));
    this.seams.terminal.out(await text(flags.output));
    const file = flags['report-file'];
    if (file === undefined) return;
    try {
      const { writeFile } = await import('node:fs/promises');
      await writeFile(file, await text(formatOfFile(file) ?? flags.output), { mode: 0o600 });
    } catch (thrown) {
      this.say(`Warning: the report could not be written to ${file}: ${messageOf(thrown)}`);
    }
  }
}

/** Joins the ports, does the work, and closes everything whatever happens. */
export async function inSession(seams: Seams, asked: Asked, work: (session: Session) => Promise<ExitName>): Promise<ExitName> {
  const warn = (text: string) => seams.terminal.err(`${text}\n`);
  const interrupts = seams.listenForInterrupts(warn);
  try {
    const { flags } = asked;
    await assertPlace('--report-file', flags['report-file']);
    const request = {
      flags,
      env: seams.env,
      interruption: interrupts,
      interactive: seams.terminal.interactive,
      warn: (text: string) => warn(`Warning: ${text}`),
      anyProfile: asked.anyProfile ?? false,
    };
    const composition = await seams.compose(request);
    try {
      return await work(new Session(seams, asked, composition, interrupts));
    } finally {
      await composition.close();
    }
  } finally {
    interrupts.release();
  }
}
