import type { CommandEntry, FastPathTable, FlagEntry } from './completion-table.ts';

/** Directives of kubectl's completion protocol (last line, `:<n>`). */
const FILES = 0;
const NO_FILES = 4;
const KEEP_ORDER = 36;

type Choice = readonly [value: string, about: string];

/** Answers `__complete WORDS…` as kubectl expects it: one `choice<TAB>description` per line, then `:<directive>`. */
export function complete(words: readonly string[], table: FastPathTable): string {
  const [command, ...rest] = words;
  if (rest.length === 0) return answer(commandChoices(table), command ?? '', KEEP_ORDER);
  const entry = command === undefined ? undefined : table.commands[command];
  if (command === 'help') return answer(commandChoices(table), rest.at(-1) ?? '', KEEP_ORDER);
  if (!entry) return answer([], '', NO_FILES);
  return completeIn(entry, rest.slice(0, -1), rest.at(-1) ?? '');
}

function completeIn(entry: CommandEntry, before: readonly string[], current: string): string {
  const [flagText, value] = split(current);
  if (value !== undefined) return valueChoices(findFlag(entry, flagText), value, `${flagText}=`);
  const waiting = findFlag(entry, before.at(-1) ?? '');
  if (waiting?.takesValue) return valueChoices(waiting, current, '');
  if (current.startsWith('-')) return answer(flagChoices(entry, before), current, NO_FILES);
  return answer(
    (entry.values ?? []).map((one): Choice => [one, '']),
    current,
    NO_FILES,
  );
}

function split(current: string): readonly [string, string | undefined] {
  const equals = current.indexOf('=');
  return current.startsWith('--') && equals > 0 ? [current.slice(0, equals), current.slice(equals + 1)] : [current, undefined];
}

function findFlag(entry: CommandEntry, written: string): FlagEntry | undefined {
  return entry.flags.find((flag) => written === `--${flag.name}` || (flag.char !== undefined && written === `-${flag.char}`));
}

function valueChoices(flag: FlagEntry | undefined, current: string, prefix: string): string {
  if (flag?.file) return answer([], '', FILES);
  const choices = (flag?.values ?? []).map((value): Choice => [`${prefix}${value}`, '']);
  return answer(choices, `${prefix}${current}`, KEEP_ORDER);
}

function flagChoices(entry: CommandEntry, before: readonly string[]): readonly Choice[] {
  return entry.flags
    .filter((flag) => flag.repeatable || !before.some((word) => word === `--${flag.name}` || word.startsWith(`--${flag.name}=`)))
    .map((flag) => [`--${flag.name}`, flag.about]);
}

function commandChoices(table: FastPathTable): readonly Choice[] {
  return Object.entries(table.commands).map(([id, entry]) => [id, entry.about]);
}

function answer(choices: readonly Choice[], start: string, directive: number): string {
  const fitting = choices.filter(([value]) => value.startsWith(start));
  return [...fitting.map(([value, about]) => (about ? `${value}\t${about}` : value)), `:${directive}`, ''].join('\n');
}
