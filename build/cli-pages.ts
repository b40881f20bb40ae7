import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../src/cli/complete.ts';
import { permittedCommands } from '../src/features/permissions.ts';
import { OWN_NAME } from '../src/kernel/own-name.ts';
import { about, type Flag, label, TRUST } from './flags-page.ts';

type Command = Manifest['commands'][string];

const MADE = '<!-- written by build/cli-pages.ts from what --help says; a test holds it to the commands -->';

/** Commands that must share a flag with one meaning for it to be explained once, in README.md of the folder. */
const SEVERAL = 10;

/** docs/reference/cli: a page per command and their list, by file name, from the same manifest as the help. */
export function cliPages(manifest: Manifest): Readonly<Record<string, string>> {
  const commands = Object.values(manifest.commands).filter(({ hidden }) => !hidden);
  const shared = sharedRows(commands);
  const pages = commands.map((command) => [`${command.id}.md`, page(command, shared)] as const);
  return { 'README.md': index(commands, shared), ...Object.fromEntries(pages) };
}

type Shared = ReadonlyMap<string, readonly string[]>;

/** Rows of flags that mean the same to several commands, by group. */
function sharedRows(commands: readonly Command[]): Shared {
  const rows = commands.flatMap((command) =>
    flagEntries(command).map(([name, flag]) => ({ group: flag.helpGroup ?? '', row: row(name, flag) })),
  );
  const several = [...Map.groupBy(rows, ({ group, row: cells }) => `${group}${cells}`).values()].filter(({ length }) => length >= SEVERAL);
  const groups = Map.groupBy(several, ([one]) => one?.group ?? '');
  return new Map([...groups].map(([group, same]) => [group, same.flatMap(([one]) => (one === undefined ? [] : [one.row]))]));
}

function index(commands: readonly Command[], shared: Shared): string {
  const rows = commands.map(({ id, summary = '' }) => `| [\`${id}\`](${id}.md) | ${summary} |`);
  const environment = new Set(commands.flatMap((command) => descriptionOf(command).environment));
  return [
    '# Commands',
    MADE,
    ['| Command | Does |', '|---|---|', ...rows].join('\n'),
    '## Flags of several commands',
    'The page of a command explains its own flags and names those of this list that it has too.',
    ...[...shared].flatMap(([group, lines]) => [`### ${group}`, table(lines)]),
    ...TRUST,
    '## Environment',
    listOf([...environment]),
    'All commands have the same [exit codes](../exit-codes.md).\n',
  ].join('\n\n');
}

function page(command: Command, shared: Shared): string {
  const { summary = '', id } = command;
  const parts = descriptionOf(command);
  return [
    `# ${OWN_NAME} ${id}`,
    summary,
    ...parts.text,
    `**When:** ${parts.when}`,
    `**Permissions:** ${permissions(command)}`,
    '## Usage',
    fenced([usageOf(command)]),
    '## Examples',
    fenced(examplesOf(command)),
    ...argumentsOf(command),
    ...flagsOf(command, shared),
    `Exit codes: [the same for all commands](../exit-codes.md). ${MADE}\n`,
  ].join('\n\n');
}

interface Description {
  readonly text: readonly string[];
  readonly when: string;
  readonly environment: readonly string[];
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
  };
}

function permissions({ id, flags }: Command): string {
  if (permittedCommands.includes(id)) return `\`permissions --for ${id}\` prints them ([why](../permissions.md)).`;
  return Object.hasOwn(flags, 'context')
    ? 'no role of its own. Where it asks a cluster, it reads what is installed, as `preflight --read-only` does ([its role](../permissions.md)).'
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

function flagsOf(command: Command, shared: Shared): readonly string[] {
  const rows = flagEntries(command).map(([name, flag]) => row(name, flag));
  const common = new Set([...shared.values()].flat());
  const own = rows.filter((line) => !common.has(line));
  const also = [...shared].flatMap(([group, all]) => partOf(group, all, new Set(rows)));
  return [
    ...(rows.length === 0 ? [] : ['## Flags']),
    ...(own.length === 0 ? [] : [table(own)]),
    ...(also.length === 0 ? [] : [`Of the [flags of several commands](README.md#flags-of-several-commands):\n\n${also.join('\n')}`]),
  ];
}

/** Which flags of a group a command has: those it has, or those it has not, whichever is the shorter list. */
function partOf(group: string, all: readonly string[], mine: ReadonlySet<string>): readonly string[] {
  const has = all.filter((line) => mine.has(line));
  const not = all.filter((line) => !mine.has(line));
  if (has.length === 0) return [];
  const names = (lines: readonly string[]) => lines.map((line) => line.split(' | ')[0]?.slice(2)).join(', ');
  if (not.length === 0) return [`- all of ${group}`];
  return [not.length < has.length ? `- all of ${group} but ${names(not)}` : `- ${names(has)}`];
}

const flagEntries = ({ flags }: Command) => Object.entries(flags).filter(([, flag]) => !flag.hidden);

const table = (rows: readonly string[]) => ['| Flag | Means |', '|---|---|', ...rows].join('\n');

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
