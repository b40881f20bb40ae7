import type { Interfaces } from '@oclif/core';
import type { Command } from '@oclif/core/command';
import { EXIT, EXIT_MEANING, Fault } from '../kernel/fault.ts';
import { commandTable } from './command-table.ts';
import { PLUGIN, type Seams } from './seams.ts';

/** What oclif knows of the commands without loading them (oclif.manifest.json, made by the build). */
export interface Manifest {
  readonly version: string;
  readonly commands: Readonly<Record<string, Command.Cached>>;
}

const ABOUT = `Upgrade a cluster's networking and policy service, one resumable stage at a time.
Each stage can be run alone; run performs them in order and resumes a run that was interrupted.
Every flag has an environment twin: --as-group is NETSVC_UPGRADE_AS_GROUP; the flag wins.

Exit codes:
${Object.entries(EXIT)
  .map(([name, code]) => `${code}  ${EXIT_MEANING[name as keyof typeof EXIT]}`)
  .join('\n')}`;

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
export const HELP_WIDTH = 80;

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
