import { registry } from '../src/checks/registry.ts';
import type { CommandEntry, FastPathTable, FlagEntry } from '../src/cli/completion-table.ts';
import { FILE_FLAGS } from '../src/cli/flags.ts';
import { DISPLAYED_NAMES } from '../src/cli/name.ts';
import type { Manifest } from '../src/cli/plugin.ts';
import { helpPages } from './help-pages.ts';

/** Everything that help, version and completion need, so that they load nothing else. */
export async function makeFastPath(manifest: Manifest, root: string): Promise<FastPathTable> {
  const commands = Object.entries(manifest.commands).map(([id, command]): [string, CommandEntry] => [id, entryOf(command)]);
  const help: Record<string, Readonly<Record<string, string>>> = {};
  for (const name of DISPLAYED_NAMES) help[name] = await helpPages(manifest, name, root);
  return { version: manifest.version, commands: Object.fromEntries(commands), help };
}

function entryOf(command: Manifest['commands'][string]): CommandEntry {
  const flags = Object.values(command.flags).filter((flag) => !flag.hidden);
  const values = command.id === 'explain' ? Object.keys(registry) : (Object.values(command.args)[0]?.options ?? []);
  return {
    about: command.summary ?? '',
    flags: flags.map(flagEntry),
    ...(values.length > 0 ? { values } : {}),
  };
}

function flagEntry(flag: Manifest['commands'][string]['flags'][string]): FlagEntry {
  const option = flag.type === 'option' ? flag : undefined;
  return {
    name: flag.name,
    ...(flag.char ? { char: flag.char } : {}),
    about: flag.summary ?? '',
    takesValue: option !== undefined,
    ...(option?.options ? { values: option.options } : flag.name === 'accept' ? { values: Object.keys(registry) } : {}),
    ...(FILE_FLAGS.includes(flag.name) ? { file: true } : {}),
    ...(option?.multiple ? { repeatable: true } : {}),
  };
}
