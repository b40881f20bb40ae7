import type { Interfaces } from '@oclif/core';
import { Command } from '@oclif/core/command';
import { EXIT, EXIT_MEANING, type ExitName } from '../kernel/fault.ts';
import { isOn } from './carried.ts';
import { askedOf, beforeCluster, wordsOf } from './command-line.ts';
import type { Row } from './flag.ts';
import { FLAG_ROWS } from './flags.ts';
import type { Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';

/** Name of the one plugin, which carries the seams to every command. */
export const PLUGIN = 'netsvc-upgrade';

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
  /** False: asks no cluster. */
  readonly cluster?: boolean;
  readonly examples: string[];
  /** After its name. */
  readonly usage?: string;
  readonly args?: Readonly<Record<string, Argument>>;
  /** It looks at a run: what its flags do not say is taken from the run record. */
  readonly usesRecord?: boolean;
  /** Without it, the command performs its stages. */
  run?(called: Called): Promise<ExitName>;
}

// The same values as oclif's functions of these names make, without loading them.
const made = (row: object) => ({ parse: async (input: unknown) => input, multiple: false, ...row, input: [], type: 'option' });

/** oclif reads the number: whoever parses with this has loaded it. */
async function readNumber(...given: readonly unknown[]): Promise<unknown> {
  const { integer } = await import('./integer.ts');
  return (integer as (...all: readonly unknown[]) => Promise<unknown>)(...given);
}

function flagOf(row: Row): object {
  if (row.type === 'boolean') return { parse: async (on: boolean) => on, ...row, allowNo: false };
  return made(row.type === 'integer' ? { parse: readNumber, ...row } : row);
}

/** The flags of a command, as oclif wants them. */
export function flagsOf(command: string): Interfaces.FlagInput {
  const rows = FLAG_ROWS.filter(([, row]) => isOn(row, command));
  return Object.fromEntries(rows.map(([name, row]) => [name, flagOf({ ...row, ...row.as?.[command] })])) as Interfaces.FlagInput;
}

/** The class that oclif runs for a command: the environment's flags, the seams, and an exit name instead of a number. */
export function commandOf(
  id: string,
  { text, when, cluster = true, usage = '[flags]', args = {}, usesRecord, run, ...row }: CommandRow,
): Command.Class {
  class OwnCommand extends Command {
    static override flags = flagsOf(id);
    static override args = argsOf(args);

    #asked: Asked | undefined;

    get #seams(): Seams {
      const plugin: object | undefined = this.config.plugins.get(PLUGIN);
      if (plugin === undefined || !('seams' in plugin)) throw new Error('the command was not loaded by this program’s own plugin');
      return plugin.seams as Seams;
    }

    async run(): Promise<ExitName> {
      const [seams, typed, shapes] = [this.#seams, [...this.argv], OwnCommand.flags];
      // argv with the environment twins of unset flags before it, booleans as the parser knows them.
      const words = wordsOf(typed, shapes, seams.env);
      const parsed = await this.parse(OwnCommand, words);
      const given = parsed.flags as unknown as SessionFlags;
      const asked = (flags: SessionFlags) => {
        this.#asked = askedOf({ command: id, typed, words, flags, shapes, commands: this.config.commandIDs });
        return this.#asked;
      };
      if (run) return run({ flags: given, args: parsed.args, seams, asked });
      return (await import('./stage-command.ts')).runStageCommand({ ...asked(given), usesRecord }, seams);
    }

    /** The shell renders every error, in one place. */
    protected override async catch(error: Error): Promise<void> {
      throw this.#asked === undefined ? error : await beforeCluster(error, this.#asked);
    }
  }
  return Object.assign(OwnCommand, row, { description: described(text, when, cluster), usage: `<%= command.id %> ${usage}` });
}

function argsOf(args: NonNullable<CommandRow['args']>): Interfaces.ArgInput<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(args).map(([name, one]) => [name, made(one)])) as unknown as Interfaces.ArgInput<
    Record<string, string | undefined>
  >;
}

const ROWS = (Object.keys(EXIT) as ExitName[]).map((name) => `${EXIT[name]}  ${EXIT_MEANING[name]}`);

/** The last part of every help text. */
export const exitCodesText = ['Exit codes:', ...ROWS].join('\n');

const TWINS = 'NETSVC_UPGRADE_…  a flag not given: --as-group is NETSVC_UPGRADE_AS_GROUP';
const CLUSTER = ['KUBECONFIG  as kubectl reads it', 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY  the way to API server and releases'];
const TERMINAL = 'NO_COLOR, TERM=dumb  no colours';

/** A command's description: what it does, when, the environment and the exit codes. */
function described(text: string, when: string, cluster: boolean): string {
  const environment = ['Environment:', TWINS, ...(cluster ? CLUSTER : []), TERMINAL].join('\n');
  // The source breaks lines where it likes, the help where the screen ends.
  const flowing = text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
  return [flowing, `When: ${when}`, environment, exitCodesText].join('\n\n');
}
