import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import { EXIT, EXIT_MEANING, type ExitName } from '../kernel/fault.ts';
import { askedOf, beforeCluster, wordsOf } from './command-line.ts';
import type { FlagShape } from './plain-flags.ts';
import type { Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';

/** Name of the one plugin, which carries the seams to every command. */
export const PLUGIN = 'netsvc-upgrade';

/** What every command shares: the environment's flags, the seams, and an exit name instead of a number. */
export abstract class BaseCommand extends Command {
  static override usage = '<%= command.id %> [flags]';

  /** The parts of the procedure that ask for the command; for its page, not for its help. */
  static procedure = 'none';

  /** argv as the user wrote it. */
  protected readonly typed: readonly string[];

  #asked: Asked | undefined;

  constructor(argv: string[], config: Config) {
    super(argv, config);
    this.typed = [...argv];
  }

  abstract override run(): Promise<ExitName>;

  protected get seams(): Seams {
    const plugin: object | undefined = this.config.plugins.get(PLUGIN);
    if (plugin === undefined || !('seams' in plugin)) throw new Error('the command was not loaded by this program’s own plugin');
    return plugin.seams as Seams;
  }

  /** argv with the environment twins of unset flags before it, booleans as the parser knows them. */
  protected words(): string[] {
    return wordsOf(this.typed, this.#shapes, this.seams.env);
  }

  protected asked(flags: SessionFlags, typed: readonly string[]): Asked {
    const parsed = { command: this.id ?? '', typed, words: this.words(), flags, shapes: this.#shapes, commands: this.config.commandIDs };
    this.#asked = askedOf(parsed);
    return this.#asked;
  }

  get #shapes(): Readonly<Record<string, FlagShape>> {
    return (this.ctor.flags ?? {}) as Readonly<Record<string, FlagShape>>;
  }

  /** The shell renders every error, in one place. */
  protected override async catch(error: Error): Promise<void> {
    throw this.#asked === undefined ? error : await beforeCluster(error, this.#asked);
  }
}

const ROWS = (Object.keys(EXIT) as ExitName[]).map((name) => `${EXIT[name]}  ${EXIT_MEANING[name]}`);

/** The last part of every help text. */
export const exitCodesText = ['Exit codes:', ...ROWS].join('\n');

const TWINS = 'NETSVC_UPGRADE_…  a flag not given: --as-group is NETSVC_UPGRADE_AS_GROUP';
const CLUSTER = ['KUBECONFIG  as kubectl reads it', 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY  the way to API server and releases'];
const TERMINAL = 'NO_COLOR, TERM=dumb  no colours';

/** When a command is of use. */
export interface Occasion {
  /** A sentence on when to use it. */
  readonly when: string;
  /** False: asks no cluster. */
  readonly cluster?: boolean;
}

/** A command's description: what it does, when, the environment and the exit codes. */
export function described(text: string, { when, cluster = true }: Occasion): string {
  const environment = ['Environment:', TWINS, ...(cluster ? CLUSTER : []), TERMINAL].join('\n');
  // The source breaks lines where it likes, the help where the screen ends.
  const flowing = text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
  return [flowing, `When: ${when}`, environment, exitCodesText].join('\n\n');
}
