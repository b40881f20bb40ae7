import { type Command, localCommand } from '../kernel/command.ts';
import { Fault } from '../kernel/fault.ts';
import { HIDDEN } from '../kernel/hidden.ts';
import { quoteFor } from '../kernel/quoting.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { commandWords, type UserCommandName } from '../kernel/user-command.ts';
import { oneLine } from '../kernel/visible.ts';
import type { CarriedFlag } from './carried.ts';
import { FLAG_ROWS, type RunFlags } from './flags.ts';

/* Commands of the user that a flag names. They are started only if they were typed, and no record and no report has them. */

/** Their flags. */
export const USER_COMMANDS = FLAG_ROWS.flatMap(([name, { isUserCommand }]) => (isUserCommand ? [name as UserCommandName] : []));

/** What the flags say. */
export function userCommandTexts(flags: RunFlags): Readonly<Partial<Record<UserCommandName, string>>> {
  return Object.fromEntries(USER_COMMANDS.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
}

/** The same. Throws Fault('usage') where they could act on another cluster: of a context they are told, of a server they cannot be. */
export function onOneCluster<Texts extends object>(texts: Texts, { server, cluster }: Pick<RunFlags, 'server' | 'cluster'>): Texts {
  const [command] = Object.keys(texts);
  if (command === undefined || (server === undefined && cluster === undefined)) return texts;
  const flag = server === undefined ? 'cluster' : 'server';
  throw new Fault('usage', `--${command} is not started with --${flag}: kubectl in it would use the cluster of the context`, [
    'name a context of that cluster with --context',
  ]);
}

/** The command as the user would start it. */
export const typedCommand = (flag: UserCommandName, said: string): Command => localCommand`${commandWords(said, flag)}`;

/** A document without these commands: it is kept or sent where others read it. */
export function withoutUserCommands<T>(document: T, carried: readonly CarriedFlag[]): T {
  const own = carried.filter(({ name }) => USER_COMMANDS.some((one) => one === name));
  if (own.length === 0) return document;
  const said = own.flatMap((flag) => textsIn(flag).map((one) => [one, `--${flag.name}=${HIDDEN}`] as const));
  const hide = (all: string) => said.reduce((kept, [from, to]) => kept.replaceAll(from, to), all);
  return typeof document === 'string'
    ? (hide(document) as T)
    : (JSON.parse(JSON.stringify(document), (_, value: unknown) => (typeof value === 'string' ? hide(value) : value)) as T);
}

/** The ways in which it may stand in a text. A word such as `true` alone is no secret, and in every text. */
function textsIn({ name, word }: CarriedFlag): readonly string[] {
  const value = word.slice(`--${name}=`.length);
  const isTelling = value.length > 8 || /[\s/\\]/.test(value);
  return [quoteFor(process.platform, word), word, ...(isTelling ? [typedCommand(name as UserCommandName, value).plain, value] : [])];
}

/** Those that the run had and a command has not. */
export function lackedBy(has: (name: UserCommandName) => boolean, { flags = [] }: Pick<RunRecord, 'flags'>): readonly UserCommandName[] {
  const words: readonly unknown[] = Array.isArray(flags) ? flags : [];
  return USER_COMMANDS.filter((name) => !has(name) && words.some((word) => String(word).startsWith(`--${name}=`)));
}

/** As they are typed. */
export const typedAgain = (names: readonly string[]): string => names.map((name) => `--${name} COMMAND`).join(' ');

const namesText = (names: readonly string[]): string => names.map((name) => `--${name}`).join(', ');

const givenAgain = (names: readonly string[], { startedBy }: Pick<RunRecord, 'startedBy'>): readonly string[] => {
  const [them, they] = names.length === 1 ? ['it', 'it was'] : ['them', 'they were'];
  return [
    `give ${them} again: ${typedAgain(names)}; a command that always succeeds, such as true, stands for none`,
    `what ${they}, only who began the run knows: ${oneLine(startedBy)}`,
  ];
};

/** The same beside a command that is refused without them. */
export const givenAgainLines = (names: readonly string[], record: Pick<RunRecord, 'startedBy'>): readonly string[] =>
  names.length === 0
    ? []
    : [
        `the run was begun with ${namesText(names)}, and no run record holds a command`,
        ...givenAgain(names, record).map((one) => `  ${one}`),
      ];

/** Throws Fault('usage') where the run that is resumed, or taken back, was begun with a command that is not given now. */
export function refuseWithout(record: RunRecord, flags: RunFlags, mayHave: (name: string) => boolean): void {
  const missing = lackedBy((name) => !mayHave(name) || flags[name] !== undefined, record);
  if (missing.length === 0) return;
  const is = missing.length === 1 ? 'is' : 'are';
  const fact = `the run was begun with ${namesText(missing)}, which ${is} not given now; no command is started from a run record`;
  throw new Fault('usage', fact, givenAgain(missing, record));
}
