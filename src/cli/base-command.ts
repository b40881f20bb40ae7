import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import type { ExitName } from '../kernel/fault.ts';
import { askedOf, wordsOf } from './command-line.ts';
import type { FlagShape } from './environment.ts';
import type { Seams } from './seams.ts';
import { seamsOf } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';

/** What every command shares: the environment's flags, the seams, and an exit name instead of a number. */
export abstract class BaseCommand extends Command {
  static override usage = '<%= command.id %> [flags]';

  /** The parts of the procedure that ask for the command; for its page, not for its help. */
  static procedure = 'none';

  /** argv as the user wrote it. */
  protected readonly typed: readonly string[];

  constructor(argv: string[], config: Config) {
    super(argv, config);
    this.typed = [...argv];
  }

  abstract override run(): Promise<ExitName>;

  protected get seams(): Seams {
    return seamsOf(this.config);
  }

  /** argv with the environment twins of unset flags before it, booleans as the parser knows them. */
  protected words(): string[] {
    return wordsOf(this.typed, this.#shapes, this.seams.env);
  }

  protected asked(flags: SessionFlags, typed: readonly string[]): Asked {
    return askedOf({ command: this.id ?? '', typed, words: this.words(), flags, shapes: this.#shapes, commands: this.config.commandIDs });
  }

  get #shapes(): Readonly<Record<string, FlagShape>> {
    return (this.ctor.flags ?? {}) as Readonly<Record<string, FlagShape>>;
  }

  /** The shell renders every error, in one place. */
  protected override async catch(error: Error): Promise<void> {
    throw error;
  }
}
