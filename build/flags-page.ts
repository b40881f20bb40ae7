import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../src/cli/complete.ts';
import { FLAG_ROWS } from '../src/cli/flags.ts';

type Command = Manifest['commands'][string];
export type Flag = Command['flags'][string];

/** Their names are those of the table of flags. */
export const TRUST = [
  '## Flags that decide trust',
  'They name what is applied, started or believed, a path, where credentials go, or what is waived.',
  `${FLAG_ROWS.filter(([, row]) => row.decidesTrust && row.helpGroup !== 'connection')
    .map(([name]) => `\`--${name}\``)
    .join(', ')}.`,
  'The run record has those of its run, and no command uses one of them from there without your word:',
  [
    '- `wait` and `verify` take release, path, variant and profile from the record. For what decides trust they ask once, with every value. Without a terminal, or with `--yes`, they end with exit 64 and the command to type.',
    '- `run` with the same flags resumes and asks nothing more. Without them it asks once at a terminal, and leaves them out if you say no. Elsewhere it takes what you typed.',
    '- `status` and `report` tell them, and no command that is suggested has them. If the record is of another cluster, nothing of it is repeated.',
  ].join('\n'),
];

/** docs/internals/flags.md: every flag, what it means, and the commands to which it means that. */
export function flagsPage(manifest: Manifest): string {
  const commands = Object.values(manifest.commands);
  const all = commands.flatMap((command) => Object.entries(command.flags).map(([name, flag]) => ({ name, flag, command })));
  // A flag has a row for each meaning: what `--undo` takes back is each command's own.
  const meanings = Map.groupBy(all, ({ name, flag }) => `| ${label(name, flag)} | ${about(flag)} |`);
  const rows = [...meanings].map(([cells, having]) => `${cells} ${havers(having, commands)} |`);
  return [
    '# Flags',
    '',
    'A flag that means something else to another command has a row for each. A flag that may be repeated is given once for each value.',
    'A flag without a value is written `--yes`, not `--yes=true`. Flags stand after the command: kubectl refuses flags before the name of a plugin.',
    'Four flags may be given as a variable instead, which their row names; the flag wins. Credentials are seen by every user of this machine where they are typed as a flag.',
    'Flags of the connection are those of kubectl, with the same meaning: `--context`, `--cluster` and `--user` choose in the kubeconfig, the others override what it says. For the API server itself there are',
    '`--server`, `--certificate-authority`, `--tls-server-name` and `--insecure-skip-tls-verify`; for the account `--token`, `--client-certificate`, `--client-key`, `--as`, `--as-group` and `--as-uid`.',
    '',
    '## All flags',
    '',
    'Written by `node build/flags-page.ts`; a test holds it to the commands.',
    '',
    '| Flag | Means | Commands |',
    '|---|---|---|',
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
  const variable = flag.env === undefined ? '' : `; variable \`${flag.env}\``;
  return `${flag.summary ?? ''}${values}${standard}${variable}`.replaceAll('|', '\\|');
}

function havers(meant: readonly { readonly command: Command }[], commands: readonly Command[]): string {
  const having = meant.map(({ command }) => command);
  const cluster = commands.filter((command) => Object.hasOwn(command.flags, 'context'));
  return having.length === cluster.length && having.every((one) => cluster.includes(one))
    ? 'every one that reads a cluster'
    : having.map((one) => one.id).join(', ');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as Manifest;
  writeFileSync(join(root, 'docs', 'internals', 'flags.md'), flagsPage(manifest));
}
