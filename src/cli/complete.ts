import type { CommandEntry, FastPathTable, FlagEntry, LiveNames } from './plain-flags.ts';

/** Directives of kubectl's completion protocol (last line, `:<n>`). */
const FILES = 0;
const NO_FILES = 4;
const KEEP_ORDER = 36;

/** What may stand after the `=` of a flag without a value of its own. */
const BOOLEAN = ['true', 'false'];

type Choice = readonly [value: string, about: string];

/** Names to look up before a completion can be answered. */
export interface Question {
  readonly names: LiveNames;
  /** Stands before each name in the answer: `--context=`. */
  readonly prefix: string;
  /** What is typed of the name. */
  readonly start: string;
  /** The command, and its words before this one: they may say which cluster. */
  readonly command: string;
  readonly before: readonly string[];
}

/** What to print; with `ask`, what to print if the names cannot be had. */
export interface Completion {
  readonly text: string;
  readonly ask?: Question;
}

interface Place {
  readonly table: FastPathTable;
  readonly command: string;
  readonly before: readonly string[];
}

/** Answers `__complete WORDS…` as kubectl expects it: one `choice<TAB>description` per line, then `:<directive>`. */
export function complete(words: readonly string[], table: FastPathTable): Completion {
  const [command = '', ...rest] = words;
  const current = rest.at(-1) ?? '';
  if (rest.length === 0) return answer(commandChoices(table), command, KEEP_ORDER);
  if (command === 'help') return answer(commandChoices(table), current, KEEP_ORDER);
  const entry = Object.hasOwn(table.commands, command) ? table.commands[command] : undefined;
  if (!entry) return answer([], '', NO_FILES);
  return completeIn(entry, { table, command, before: rest.slice(0, -1) }, current);
}

/** The answer to a question, with the names that were found. */
export function named({ prefix, start }: Question, names: readonly string[]): string {
  return answer(
    names.map((name): Choice => [`${prefix}${name}`, '']),
    `${prefix}${start}`,
    NO_FILES,
  ).text;
}

function completeIn(entry: CommandEntry, place: Place, current: string): Completion {
  const { before, table } = place;
  // After `--` everything is an argument.
  if (before.includes('--')) return answer(choices(entry.values, '', table), current, NO_FILES);
  const [flagText, value] = split(current);
  if (value !== undefined) return valuesOf(findFlag(entry, flagText), value, `${flagText}=`, place);
  const waiting = findFlag(entry, before.at(-1) ?? '');
  if (waiting?.takesValue) return valuesOf(waiting, current, '', place);
  if (current.startsWith('-')) return answer(flagChoices(entry, before), current, NO_FILES);
  return answer(choices(entry.values, '', table), current, NO_FILES);
}

function split(current: string): readonly [string, string | undefined] {
  const equals = current.indexOf('=');
  return current.startsWith('--') && equals > 0 ? [current.slice(0, equals), current.slice(equals + 1)] : [current, undefined];
}

function findFlag(entry: CommandEntry, written: string): FlagEntry | undefined {
  return entry.flags.find((flag) => written === `--${flag.name}` || (flag.char !== undefined && written === `-${flag.char}`));
}

function valuesOf(flag: FlagEntry | undefined, current: string, prefix: string, { table, command, before }: Place): Completion {
  const equals = current.indexOf('=');
  const subjects = equals < 0 ? undefined : flag?.subjects?.[current.slice(0, equals)];
  const ask = (names: LiveNames, from: number): Completion => {
    const question = { names, prefix: `${prefix}${current.slice(0, from)}`, start: current.slice(from), command, before };
    return { ...answer([], '', NO_FILES), ask: question };
  };
  if (subjects) return ask(subjects, equals + 1);
  if (flag?.live) return ask(flag.live, 0);
  const values = flag && !flag.takesValue ? BOOLEAN : flag?.values;
  const fitting = choices(values, prefix, table).filter(([value]) => value.startsWith(`${prefix}${current}`));
  // Of values and files the shell can complete one: files, once no value fits.
  return answer(fitting, '', flag?.file && fitting.length === 0 ? FILES : KEEP_ORDER);
}

function choices(values: readonly string[] = [], prefix: string, { titles = {} }: FastPathTable): readonly Choice[] {
  return values.map((value) => [`${prefix}${value}`, titles[value] ?? '']);
}

function flagChoices(entry: CommandEntry, before: readonly string[]): readonly Choice[] {
  return entry.flags
    .filter((flag) => flag.repeatable || !before.some((word) => word === `--${flag.name}` || word.startsWith(`--${flag.name}=`)))
    .map((flag) => [`--${flag.name}`, flag.about]);
}

function commandChoices(table: FastPathTable): readonly Choice[] {
  return Object.entries(table.commands).map(([id, entry]) => [id, entry.about]);
}

function answer(offered: readonly Choice[], start: string, directive: number): Completion {
  const fitting = offered.filter(([value]) => value.startsWith(start));
  return { text: [...fitting.map(([value, about]) => (about ? `${value}\t${about}` : value)), `:${directive}`, ''].join('\n') };
}
