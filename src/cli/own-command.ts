import type { Interfaces } from '@oclif/core';
import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import * as Errors from '@oclif/core/errors';
import * as Flags from '@oclif/core/flags';
import { EXIT, EXIT_MEANING, type ExitName } from '../kernel/fault.ts';
import { isOn } from './carried.ts';
import { askedOf, beforeCluster, toldFault } from './command-line.ts';
import type { CommandName } from './command-names.ts';
import type { Row } from './flag.ts';
import { FLAG_ROWS } from './flags.ts';
import { flushed, outliveOutput } from './lost-output.ts';
import { named } from './name.ts';
import { realSeams } from './real-seams.ts';
import type { Uses } from './recorded-flags.ts';
import type { Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';

outliveOutput();

/** What commands get from outside: the real world, or what a test hands over with oclif's load options. */
export function seamsOf(config: Interfaces.Config): Seams {
  const { options = {} } = config as { readonly options?: { readonly seams?: Seams } };
  return options.seams ?? realSeams(config.version);
}

/** What every command shares: outside things, what continues its command line, and errors in this program's words. */
export abstract class OwnCommand extends Command {
  /** The parts of the procedure that ask for it; for its page, not for its help. */
  static procedure = 'none';
  static override usage: string | string[] | undefined = '<%= command.id %> [flags]';

  protected readonly seams: Seams;
  protected flags = {} as SessionFlags;
  protected args: Readonly<Record<string, string | undefined>> = {};
  /** What its flags do not say may be in the run record. */
  protected readonly usesRecord: Uses | undefined = undefined;
  readonly #typed: readonly string[];
  #given: ReadonlySet<string> = new Set();
  #asked: Asked | undefined;

  constructor(argv: string[], config: Config) {
    // For a command oclif loads what it knows of the program once more.
    super(argv, named(config));
    this.seams = seamsOf(config);
    this.#typed = [...argv];
  }

  abstract override run(): Promise<ExitName>;

  protected override async init(): Promise<void> {
    await super.init();
    const { flags, args, metadata } = await this.parse(this.ctor);
    this.flags = flags as unknown as SessionFlags;
    this.args = args;
    this.#given = new Set(Object.keys(flags).filter((name) => !metadata.flags[name]?.setFromDefault));
  }

  /** What the command is asked for, with everything that continues it. */
  protected asked(flags = this.flags): Asked {
    const { id = '', config, usesRecord } = this;
    const parsed = { command: id, action: this.args.action, typed: this.#typed, flags, given: this.#given, commands: config.commandIDs };
    this.#asked = { ...askedOf(parsed), ...(usesRecord === undefined ? {} : { usesRecord }) };
    return this.#asked;
  }

  /** Tells the error, and ends with its exit code. */
  protected override async catch(thrown: Error): Promise<never> {
    if (thrown instanceof Errors.ExitError) throw thrown;
    const { id = '', ctor, seams } = this;
    const here = this.#asked === undefined ? thrown : await beforeCluster(thrown, this.#asked);
    const fault = await toldFault(here, { command: id, flags: Object.keys(ctor.flags), argv: [id, ...this.#typed], seams });
    await flushed();
    return this.exit(EXIT[fault.code]);
  }
}

/** A command that performs the chain, or the stage of its name. */
export abstract class StageCommand extends OwnCommand {
  async run(): Promise<ExitName> {
    return (await import('./stage-command.ts')).runStageCommand(this.asked(), this.seams);
  }
}

/** The flags of a command, from the table of flags. */
export function flagsOf(command: CommandName): Interfaces.FlagInput {
  const rows = FLAG_ROWS.filter(([, row]) => isOn(row, command));
  return Object.fromEntries(rows.map(([name, row]) => [name, flagOf({ ...row, ...row.as?.[command] })]));
}

function flagOf({ type, ...row }: Row): Interfaces.FlagInput[string] {
  const make = type === 'boolean' ? Flags.boolean : type === 'integer' ? Flags.integer : Flags.string;
  return (make as (row: object) => Interfaces.FlagInput[string])(row);
}

const ROWS = (Object.keys(EXIT) as ExitName[]).map((name) => `${EXIT[name]}  ${EXIT_MEANING[name]}`);
const OF_CLUSTER = ['KUBECONFIG  as kubectl reads it', 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY  the way to API server and releases'];
const TERMINAL = 'NO_COLOR, TERM=dumb  no colours';

/** A command's description: what it does, when, the environment and the exit codes. */
export function described(text: string, when: string, where: 'cluster' | 'local' = 'cluster'): string {
  const environment = ['Environment:', ...(where === 'cluster' ? OF_CLUSTER : []), TERMINAL].join('\n');
  // The source breaks lines where it likes, the help where the screen ends.
  const flowing = text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
  return [flowing, `When: ${when}`, environment, ['Exit codes:', ...ROWS].join('\n')].join('\n\n');
}
