import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../src/cli/complete.ts';
import { OWN_NAME } from '../src/cli/name.ts';
import { about, type Flag, label } from './flags-page.ts';

type Command = Manifest['commands'][string];

const MADE = 'Written by `node build/cli-pages.ts` from what `--help` says; a test holds it to the commands.';

/** docs/reference/cli: a page per command and their list, by file name, from the same manifest as the help. */
export function cliPages(manifest: Manifest): Readonly<Record<string, string>> {
  const commands = Object.values(manifest.commands).filter(({ hidden }) => !hidden);
  const rows = commands.map(({ id, summary = '' }) => `| [\`${id}\`](${id}.md) | ${summary} |`);
  const index = ['# Commands', '', MADE, '', '| Command | Does |', '|---|---|', ...rows, ''].join('\n');
  return { 'README.md': index, ...Object.fromEntries(commands.map((command) => [`${command.id}.md`, page(command)])) };
}

function page(command: Command): string {
  const { summary = '', id } = command;
  const parts = descriptionOf(command);
  return [
    `# ${OWN_NAME} ${id}`,
    summary,
    ...parts.text,
    `**When:** ${parts.when}`,
    `**Procedure:** ${String(command.procedure)}. [Coverage](../coverage.md) lists every step.`,
    `**Permissions:** ${permissions(command)}`,
    '## Usage',
    fenced([usageOf(command)]),
    '## Examples',
    fenced(examplesOf(command)),
    ...argumentsOf(command),
    ...flagsOf(command),
    '## Environment',
    listOf(parts.environment),
    '## Exit codes',
    listOf(parts.exitCodes),
    `${MADE}\n`,
  ].join('\n\n');
}

interface Description {
  readonly text: readonly string[];
  readonly when: string;
  readonly environment: readonly string[];
  readonly exitCodes: readonly string[];
}

/** The parts that `described` put together. Throws if one is missing: every command has them all. */
function descriptionOf({ id, description = '' }: Command): Description {
  const paragraphs = description.split('\n\n');
  const part = (head: string): string => {
    const found = paragraphs.find((one) => one.startsWith(head));
    if (found === undefined) throw new Error(`${id}: its description has no part ${head}`);
    return found.slice(head.length).trim();
  };
  const heads = ['When:', 'Environment:', 'Exit codes:'];
  return {
    text: paragraphs.filter((one) => !heads.some((head) => one.startsWith(head))),
    when: part('When:'),
    environment: part('Environment:').split('\n'),
    exitCodes: part('Exit codes:').split('\n'),
  };
}

function permissions({ id, flags }: Command): string {
  return Object.hasOwn(flags, 'context')
    ? `\`permissions --for ${id}\` prints them ([why](../permissions.md)).`
    : 'none; it asks no cluster.';
}

const fenced = (lines: readonly string[]) => ['```sh', ...lines, '```'].join('\n');
/** `KEY  meaning` per line. */
const listOf = (lines: readonly string[]) => lines.map((line) => `- ${line.replace(/^(.+?) {2}(.+)$/, '`$1` $2')}`).join('\n');

function usageOf({ id, usage }: Command): string {
  const text = typeof usage === 'string' ? usage : (usage?.[0] ?? '<%= command.id %> [flags]');
  return `${OWN_NAME} ${text.replace('<%= command.id %>', id)}`;
}

/** The examples of a command as the user types them. */
export function examplesOf({ examples = [] }: Command): readonly string[] {
  return examples.map((one) => (typeof one === 'string' ? one : one.command).replaceAll('<%= config.bin %>', OWN_NAME));
}

function argumentsOf({ args }: Command): readonly string[] {
  const rows = Object.values(args).map(({ name, description = '', options, default: standard }) => {
    const values = options ? ` (${options.join(', ')})` : '';
    return `| \`${name}\` | ${description}${values}${standard === undefined ? '' : `; default ${String(standard)}`} |`;
  });
  return rows.length === 0 ? [] : ['## Arguments', ['| Argument | Means |', '|---|---|', ...rows].join('\n')];
}

function flagsOf({ flags }: Command): readonly string[] {
  const shown = Object.entries(flags).filter(([, flag]) => !flag.hidden);
  const groups = Map.groupBy(shown, ([, flag]) => flag.helpGroup ?? '');
  return [...groups].flatMap(([group, entries]) => [
    group === '' ? '## Flags' : `## Flags: ${group}`,
    ['| Flag | Means |', '|---|---|', ...entries.map(([name, flag]) => row(name, flag))].join('\n'),
  ]);
}

function row(name: string, flag: Flag): string {
  return `| ${label(name, flag)} | ${about(flag)} |`;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const folder = join(root, 'docs', 'reference', 'cli');
  const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as Manifest;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [file, text] of Object.entries(cliPages(manifest))) writeFileSync(join(folder, file), text);
}
