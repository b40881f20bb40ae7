import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Interfaces } from '@oclif/core';
import type { Command } from '@oclif/core/command';
import { run } from '@oclif/core/run';
import type { otherCommands } from '../commands/others.ts';
import type { stageCommands } from '../commands/stages.ts';
import { Fault } from '../kernel/fault.ts';
import { commandOf, exitCodesText, PLUGIN } from './base-command.ts';
import { exitCodeOf } from './command-line.ts';
import { realSeams } from './real-seams.ts';
import type { Seams } from './seams.ts';
import { surviveClosedPipes } from './terminal.ts';

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

const stage = (id: keyof typeof stageCommands) => async () => commandOf(id, (await import('../commands/stages.ts')).stageCommands[id]);
const other = (id: keyof typeof otherCommands) => async () => commandOf(id, (await import('../commands/others.ts')).otherCommands[id]);

/** Every command, in the order of the help; its files are loaded only when it runs. */
export const commandTable: Readonly<Record<string, Load>> = {
  preflight: stage('preflight'),
  plan: other('plan'),
  run: stage('run'),
  status: other('status'),
  report: other('report'),
  backup: stage('backup'),
  ownerrefs: other('ownerrefs'),
  crds: stage('crds'),
  alp: stage('alp'),
  policy: stage('policy'),
  hep: stage('hep'),
  apply: stage('apply'),
  wait: stage('wait'),
  cli: stage('cli'),
  verify: stage('verify'),
  unlock: other('unlock'),
  permissions: other('permissions'),
  explain: other('explain'),
  completion: other('completion'),
  demo: other('demo'),
};

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
