import type { Row } from '../src/cli/flag.ts';
import { DISPLAYED_NAMES } from '../src/cli/name.ts';
import type { CommandEntry, FastPathTable, FlagEntry, LiveNames } from '../src/cli/plain-flags.ts';
import type { Manifest } from '../src/cli/shell.ts';
import { checkTitles } from '../src/features/chain.ts';
import { shippedProfiles } from '../src/profiles/index.ts';
import { classes } from './command-classes.ts';
import { helpPages } from './help-pages.ts';
import { plainCommands } from './plain-commands.ts';

/** Everything that help, version and completion need, so that they load nothing else: files of `dist`, and what is in them. */
export async function makeFastPath(manifest: Manifest, root: string): Promise<Readonly<Record<string, unknown>>> {
  const commands = Object.entries(manifest.commands).map(([id, command]): [string, CommandEntry] => [id, entryOf(command)]);
  const plain = await plainCommands(manifest);
  const table: Omit<FastPathTable, 'commands' | 'help'> = {
    version: manifest.version,
    names: Object.keys(manifest.commands),
    plain,
    titles: checkTitles,
  };
  return { 'fast-path.json': table, 'completion.json': Object.fromEntries(commands), ...(await helpFiles(manifest, root)) };
}

/** `help/run.json`: what is shown under each name of the program. */
async function helpFiles(manifest: Manifest, root: string): Promise<Readonly<Record<string, unknown>>> {
  const named = await Promise.all(DISPLAYED_NAMES.map(async (name) => [name, await helpPages(manifest, name, root)] as const));
  const textsOf = (page: string) => Object.fromEntries(named.map(([name, pages]) => [name, pages[page]]));
  return Object.fromEntries(['', ...Object.keys(manifest.commands)].map((page) => [`help/${page || 'root'}.json`, textsOf(page)]));
}

function entryOf(command: Manifest['commands'][string]): CommandEntry {
  const flags = Object.values(command.flags).filter((flag) => !flag.hidden);
  const values = command.id === 'explain' ? Object.keys(checkTitles) : (Object.values(command.args)[0]?.options ?? []);
  return {
    about: command.summary ?? '',
    flags: flags.map(flagEntry),
    ...(values.length > 0 ? { values } : {}),
  };
}

function flagEntry(flag: Manifest['commands'][string]['flags'][string]): FlagEntry {
  const option = flag.type === 'option' ? flag : undefined;
  const values = option?.options ?? knownValues[flag.name];
  const { file, live }: Row = completed.get(flag.name) ?? {};
  return {
    name: flag.name,
    ...(flag.char ? { char: flag.char } : {}),
    about: flag.summary ?? '',
    takesValue: option !== undefined,
    ...(values ? { values } : {}),
    ...(file ? { file: true } : {}),
    ...(option?.multiple ? { repeatable: true } : {}),
    ...(live ? { live } : {}),
    ...(flag.name === 'accept' ? { subjects: NODE_CHECKS } : {}),
  };
}

/** What the rows of flags say beside the manifest; a flag is completed alike in every command. */
const completed = new Map(
  Object.values(classes)
    .flatMap(({ flags = {} }) => Object.entries(flags) as [string, Row][])
    .filter(([, { file, live }]) => file || live),
);

const unique = (values: readonly string[]) => [...new Set(values)];

/** Values of flags that also take others. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  accept: Object.keys(checkTitles),
  profile: shippedProfiles.map(({ name }) => name),
  release: unique(shippedProfiles.map(({ defaultRelease }) => defaultRelease)),
  variant: unique(shippedProfiles.flatMap(({ variants }) => variants.map(({ id }) => id))),
  delete: unique(shippedProfiles.map(({ temporaryPolicy }) => temporaryPolicy)),
};

/** Checks of hosts, which are accepted node by node. */
const NODE_CHECKS = Object.fromEntries(['NS-711', 'NS-712', 'NS-713'].map((id): [string, LiveNames] => [id, 'nodes']));
