import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Interfaces } from '@oclif/core';
import { Command } from '@oclif/core/command';
import { run } from '@oclif/core/run';
import { EXIT, EXIT_MEANING, type ExitName, Fault } from '../kernel/fault.ts';
import { isOn } from './carried.ts';
import { askedOf, beforeCluster, exitCodeOf, wordsOf } from './command-line.ts';
import { COMMAND_NAMES, type CommandName, isStageCommand } from './command-names.ts';
import type { CommandRow } from './command-row.ts';
import { CLUSTER, type Row } from './flag.ts';
import { FLAG_ROWS } from './flags.ts';
import { realSeams } from './real-seams.ts';
import type { Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';
import { surviveClosedPipes } from './terminal.ts';

/** Name of the one plugin, which carries the seams to every command. */
const PLUGIN = 'netsvc-upgrade';

/** `oclif.manifest.json` lies two folders above, in the sources and in dist alike (docs/internals/decisions/start-up.md). */
const ROOT = new URL('../../', import.meta.url);

export async function runShell(argv: readonly string[], name: string): Promise<number> {
  surviveClosedPipes();
  const manifest = JSON.parse(await readFile(new URL('oclif.manifest.json', ROOT), 'utf8')) as Manifest;
  return runCommand(argv, manifest, realSeams(name, manifest.version));
}

/** Runs one command in this process and resolves to its exit code; every error ends here. */
export async function runCommand(argv: readonly string[], manifest: Manifest, seams: Seams): Promise<number> {
  const flags = Object.keys(manifest.commands[argv[0] ?? '']?.flags ?? {});
  return exitCodeOf({ argv, flags, seams }, () => run([...argv], loadOptions(new MemoryPlugin(manifest, seams, fileURLToPath(ROOT)))));
}

type Load = () => Promise<Command.Class>;

/** Every command, in the order of the help; its files are loaded only when it runs. */
export const commandTable: Readonly<Record<string, Load>> = Object.fromEntries(COMMAND_NAMES.map((id) => [id, () => loaded(id)]));

async function loaded(id: CommandName): Promise<Command.Class> {
  if (isStageCommand(id)) return commandOf(id, (await import('../commands/stages.ts')).stageCommands[id]);
  return commandOf(id, (await import('../commands/others.ts')).otherCommands[id]);
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
function commandOf(id: string, { text, when, usage = '[flags]', args = {}, usesRecord, run, ...row }: CommandRow): Command.Class {
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
  return Object.assign(OwnCommand, row, { description: described(text, when, CLUSTER.includes(id)), usage: `<%= command.id %> ${usage}` });
}

function argsOf(args: NonNullable<CommandRow['args']>): Interfaces.ArgInput<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(args).map(([name, one]) => [name, made(one)])) as unknown as Interfaces.ArgInput<
    Record<string, string | undefined>
  >;
}

const ROWS = (Object.keys(EXIT) as ExitName[]).map((name) => `${EXIT[name]}  ${EXIT_MEANING[name]}`);

/** The last part of every help text. */
const exitCodesText = ['Exit codes:', ...ROWS].join('\n');

const TWINS = 'NETSVC_UPGRADE_…  a flag not given: --as-group is NETSVC_UPGRADE_AS_GROUP';
const OF_CLUSTER = ['KUBECONFIG  as kubectl reads it', 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY  the way to API server and releases'];
const TERMINAL = 'NO_COLOR, TERM=dumb  no colours';

/** A command's description: what it does, when, the environment and the exit codes. */
function described(text: string, when: string, cluster: boolean): string {
  const environment = ['Environment:', TWINS, ...(cluster ? OF_CLUSTER : []), TERMINAL].join('\n');
  // The source breaks lines where it likes, the help where the screen ends.
  const flowing = text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
  return [flowing, `When: ${when}`, environment, exitCodesText].join('\n\n');
}

/** What oclif knows of the commands without loading them (oclif.manifest.json, made by the build). */
export interface Manifest {
  readonly version: string;
  readonly commands: Readonly<Record<string, Command.Cached>>;
}

const ABOUT = `Upgrade a cluster's networking and policy service, one resumable stage at a time.
Each stage can be run alone; run performs them in order and resumes a run that was interrupted.
Every flag has an environment twin: --as-group is NETSVC_UPGRADE_AS_GROUP; the flag wins.

${exitCodesText}`;

/** The package as oclif wants it described; there is no `oclif` key in package.json to drift from. */
export function packageOf(name: string, version: string): Interfaces.PJSON {
  return {
    name: PLUGIN,
    version,
    oclif: {
      bin: name,
      dirname: PLUGIN,
      description: ABOUT,
      topicSeparator: ':',
      additionalHelpFlags: ['-h'],
      helpOptions: { flagSortOrder: 'none', docopts: false, maxWidth: HELP_WIDTH, stripAnsi: true },
    },
  };
}

/** Help is rendered for this width, at build time and at run time. */
const HELP_WIDTH = 80;

/** The only plugin, in memory: no file system discovery, and the seams travel with it. */
export class MemoryPlugin implements Interfaces.Plugin {
  readonly _base = PLUGIN;
  readonly alias = PLUGIN;
  readonly commandIDs: string[];
  readonly commands: Command.Loadable[];
  readonly commandsDir = undefined;
  readonly hasManifest = true;
  readonly hooks = {};
  readonly isRoot = true;
  readonly moduleType = 'module';
  readonly name = PLUGIN;
  readonly options: Interfaces.Options;
  readonly pjson: Interfaces.PJSON;
  readonly root: string;
  readonly topics = [];
  readonly type = 'core';
  readonly valid = true;
  readonly version: string;
  readonly seams: Seams;

  constructor(manifest: Manifest, seams: Seams, root: string) {
    this.root = root;
    this.seams = seams;
    this.version = manifest.version;
    this.pjson = packageOf(seams.name, manifest.version);
    this.options = { root, pjson: this.pjson, isRoot: true };
    this.commandIDs = Object.keys(manifest.commands);
    this.commands = Object.values(manifest.commands).map((cached) => ({ ...cached, load: () => this.findCommand(cached.id) }));
  }

  async load(): Promise<void> {}

  async findCommand(id: string): Promise<Command.Class> {
    const load = commandTable[id];
    if (!load) throw new Fault('usage', `unknown command "${id}"`, [`see the commands: ${this.seams.name} --help`]);
    const command = await load();
    command.id = id;
    command.plugin = this;
    return command;
  }
}

/** The options with which oclif loads this plugin and nothing else. */
export function loadOptions(plugin: MemoryPlugin): Interfaces.Options {
  return { ...plugin.options, plugins: new Map([[PLUGIN, plugin]]), userPlugins: false, devPlugins: false };
}
