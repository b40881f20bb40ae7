import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { twinOf } from '../src/cli/environment.ts';
import type { Manifest } from '../src/cli/plugin.ts';

type Command = Manifest['commands'][string];
export type Flag = Command['flags'][string];

/** docs/flags.md: every flag with its environment twin and the commands that have it. */
export function flagsPage(manifest: Manifest): string {
  const commands = Object.values(manifest.commands);
  const flags = new Map(commands.flatMap((command) => Object.entries(command.flags)));
  const rows = [...flags].map(
    ([name, flag]) => `| ${label(name, flag)} | \`${twinOf(name)}\` | ${about(flag)} | ${havers(name, commands)} |`,
  );
  return [
    '# Flags',
    '',
    'Written by `node build/flags-page.ts`; a test holds it to the commands.',
    '',
    'Every flag has an environment twin; the flag wins. Lists are split at commas. A boolean twin is `true` or `false`.',
    'A boolean flag may be written `--yes=true` or `--yes=false`, as in kubectl; `=false` also switches its twin off, and the last one counts.',
    'Flags stand after the command: kubectl refuses flags before the name of a plugin.',
    '',
    '| Flag | Environment | Means | Commands |',
    '|---|---|---|---|',
    ...rows.sort(),
    '',
  ].join('\n');
}

/** `--output`, `-o` as a cell of a table. */
export function label(name: string, flag: Flag): string {
  return `\`--${name}\`${flag.char ? `, \`-${flag.char}\`` : ''}`;
}

/** What a flag means, with its values and its default, as a cell of a table. */
export function about(flag: Flag): string {
  const option = flag.type === 'option' ? flag : undefined;
  const values = option?.options ? ` (${option.options.join(', ')})` : '';
  const standard = option?.default === undefined ? '' : `; default ${String(option.default)}`;
  return `${flag.summary ?? ''}${values}${standard}`.replaceAll('|', '\\|');
}

function havers(name: string, commands: readonly Command[]): string {
  const having = commands.filter((command) => Object.hasOwn(command.flags, name));
  const cluster = commands.filter((command) => Object.hasOwn(command.flags, 'context'));
  return having.length === cluster.length && having.every((one) => cluster.includes(one))
    ? 'every one that reads a cluster'
    : having.map((one) => one.id).join(', ');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as Manifest;
  writeFileSync(join(root, 'docs', 'flags.md'), flagsPage(manifest));
}
