import { EXIT, Fault } from '../kernel/fault.ts';
import { nearest } from '../kernel/nearest.ts';
import { checkIdOf, checkPage } from './check-page.ts';
import { complete, type Question } from './complete.ts';
import { errorText } from './error-text.ts';
import { OWN_NAME } from './name.ts';
import type { FastPathTable } from './plain-flags.ts';
import type { Environment } from './seams.ts';

/** An answer that needs neither oclif nor a cluster. */
export interface FastAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
  /** Names to look up for the answer; without them, what is above holds. */
  readonly ask?: Question;
}

const HELP = new Set(['--help', '-h']);

/** How the program was called: the words, its name, and what `-o` may be taken from besides. */
interface Call {
  readonly argv: readonly string[];
  readonly name: string;
  readonly env: Environment;
}

/** Help, version, completion, the page of a check, and misspelt commands; undefined if the command has to run. */
export function answerFast(argv: readonly string[], name: string, table: FastPathTable, env: Environment): FastAnswer | undefined {
  const [first, ...rest] = argv;
  const call = { argv, name, env };
  if (first === '__complete') return completed(rest, table);
  if (first === '--version' || first === 'version') return said(`netsvc-upgrade v${table.version}\n`);
  if (first === undefined || HELP.has(first)) return page('', name, table);
  if (first === 'help') return rest[0] === undefined ? page('', name, table) : help(rest[0], call, table);
  if (!table.names.includes(first)) return refuse(first, call, table);
  if (asksForHelp(rest)) return page(first, name, table);
  return first === 'explain' && rest.length === 1 ? explained(rest[0] ?? '', table) : undefined;
}

/** Undefined where there is something to refuse: it is said in one place. */
function explained(written: string, { titles = {} }: FastPathTable): FastAnswer | undefined {
  const id = checkIdOf(written);
  if (!Object.hasOwn(titles, id)) return undefined;
  try {
    return said(checkPage(id));
  } catch {
    return undefined;
  }
}

function completed(words: readonly string[], table: FastPathTable): FastAnswer {
  const { text, ask } = complete(words, table);
  return { ...said(text), ...(ask ? { ask } : {}) };
}

function help(command: string, call: Call, table: FastPathTable): FastAnswer | undefined {
  return table.names.includes(command) ? page(command, call.name, table) : refuse(command, call, table);
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).some((word) => HELP.has(word));
}

function page(id: string, name: string, table: FastPathTable): FastAnswer | undefined {
  const text = table.help(id)?.[name];
  return text === undefined ? undefined : said(text);
}

function refuse(written: string, { argv, name, env }: Call, table: FastPathTable): FastAnswer {
  const isFlag = written.startsWith('-');
  const fact = isFlag ? `${written.split('=')[0]} must follow the command` : `unknown command "${written}"`;
  const meant = isFlag ? undefined : nearest(written, table.names);
  const hint = isFlag
    ? `put the command first: ${name} COMMAND ${written.split('=')[0]} …`
    : meant
      ? `did you mean: ${name} ${meant}`
      : `see the commands: ${name} --help`;
  const next = meant === undefined ? `${name} --help` : `${name} ${meant} --help`;
  return { stdout: '', stderr: errorText(new Fault('usage', fact, [hint], undefined, { next }), argv, env), exit: EXIT.usage };
}

const said = (stdout: string): FastAnswer => ({ stdout, stderr: '', exit: 0 });

/** How the user called the program, from the file name it was started by (a symlink's own name, not its target). */
export function displayedName(argv0: string | undefined): string {
  const base = (argv0 ?? '').split(/[\\/]/).at(-1) ?? '';
  // The user on Windows may write it in any case.
  return base.toLowerCase().startsWith('netsvcctl-') ? 'netsvcctl upgrade' : OWN_NAME;
}
