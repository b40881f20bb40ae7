import { delimiter, isAbsolute } from 'node:path';
import { quoteFor } from '../kernel/argv.ts';
import { EXIT, type ExitName, Fault } from '../kernel/fault.ts';
import { mask } from '../kernel/hidden.ts';
import { CARRIED, type CarriedFlag } from './carried.ts';
import { asksForJson, errorText } from './error-text.ts';
import { toFault } from './faults.ts';
import type { FlagShape } from './plain-flags.ts';
import type { Environment, Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';
import { inWordsOf, tellErr } from './terminal.ts';

type FlagShapes = Readonly<Record<string, FlagShape>>;

/** argv with the environment twins of unset flags before it, booleans and levels as the parser knows them. */
export function wordsOf(argv: readonly string[], shapes: FlagShapes, env: Environment): string[] {
  return [...withBareBooleans(withEnvironment(argv.map(levelled), shapes, env), shapes)];
}

/** A command line that was read. */
export interface Parsed {
  readonly command: string;
  /** As the user wrote it. */
  readonly typed: readonly string[];
  /** What was read: `typed` with the environment's words. */
  readonly words: readonly string[];
  readonly flags: SessionFlags;
  readonly shapes: FlagShapes;
  /** Names of the commands that this version has. */
  readonly commands: readonly string[];
}

/** What a command is asked for, with everything that continues it. */
export function askedOf(parsed: Parsed): Asked {
  const { command, flags, typed, commands } = parsed;
  const line = [command, ...withoutCredentialFlags(typed).map(quoted)].join(' ');
  return { command, flags, typed: line, carried: carriedFlags(parsed), commands };
}

/** `-v` alone is the first level, as in other programs; kubectl’s `-v=6` is as it stands. */
const levelled = (word: string, index: number, argv: readonly string[]) =>
  word === '-v' && !/^\d+$/.test(argv[index + 1] ?? '') ? '-v=1' : word;

/** A word as it may be shown: what was typed into an address is not repeated. */
const quoted = (word: string) => quoteFor(process.platform, mask(word));

function withoutCredentialFlags(argv: readonly string[]): readonly string[] {
  const names = CREDENTIAL_FLAGS.map((name) => `--${name}`);
  const isOne = (word = '') => names.some((name) => word === name || word.startsWith(`${name}=`));
  return argv.filter((word, index) => !isOne(word) && !names.includes(argv[index - 1] ?? ''));
}

/** Flags that somebody set: on the command line, or by the environment, whose words come with those that were typed in `words`. */
function carriedFlags({ typed, words, flags, shapes }: Parsed): readonly CarriedFlag[] {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  return CARRIED.flatMap((name) => {
    const [shape, value] = [shapes[name], values[name]];
    // Off on the command line is carried, too: the environment may say on, and the next command reads it.
    if (shape?.type === 'boolean' && writtenBoolean(typed, name, shapes) === false) return [{ name, word: `--${name}=false` }];
    const isIn = (some: readonly string[]) => shape !== undefined && some.some((word) => setsFlag(word, name, shape));
    if (value === undefined || value === false || !isIn(words)) return [];
    const from = isIn(typed) ? {} : ({ fromEnvironment: true } as const);
    if (value === true) return [{ name, word: `--${name}`, ...from }];
    return (Array.isArray(value) ? value : [value]).map((one) => ({ name, word: mask(`--${name}=${one}`), ...from }));
  });
}

/** A word of a command line, with the boolean flag that it switches. */
interface Word {
  readonly text: string;
  readonly sets?: { readonly name: string; readonly on: boolean };
}

/**
 * Turns kubectl's `--yes=true` into the parser's bare flag; `--yes=false` removes earlier words for it. The last word counts, as in
 * kubectl, and the environment's come first. Throws Fault('usage') for any other value.
 */
function withBareBooleans(argv: readonly string[], flags: FlagShapes): readonly string[] {
  const words = switchedWords(argv, flags);
  const last = new Map(words.flatMap(({ sets }) => (sets ? [[sets.name, sets.on] as const] : [])));
  const kept = words.filter(({ sets }) => !sets || (sets.on && last.get(sets.name)));
  return [...kept.map(({ text }) => text), ...argv.slice(ownWords(argv).length)];
}

/** What the last word about a boolean flag says; undefined where none does. */
export function writtenBoolean(argv: readonly string[], name: string, flags: FlagShapes): boolean | undefined {
  return switchedWords(argv, flags).findLast(({ sets }) => sets?.name === name)?.sets?.on;
}

/** Those before `--`: after it everything is an argument. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

function switchedWords(argv: readonly string[], flags: FlagShapes): readonly Word[] {
  let isValue = false;
  return ownWords(argv).flatMap((text): readonly Word[] => {
    const words = isValue ? [{ text }] : separate(text, flags).map((word) => wordOf(word, flags));
    isValue = !isValue && awaitsValue(text, flags);
    return words;
  });
}

function wordOf(text: string, flags: FlagShapes): Word {
  const [, written = text, value] = /^(--?[^=]+)=(.*)$/s.exec(text) ?? [];
  const name = nameOf(written, flags);
  if (name === undefined || flags[name]?.type !== 'boolean') return { text };
  if (value === undefined || /^true$/i.test(value)) return { text: written, sets: { name, on: true } };
  if (/^false$/i.test(value)) return { text: written, sets: { name, on: false } };
  throw new Fault('usage', `${written}=${value} is neither true nor false`, [`write ${written}, or ${written}=false to switch it off`]);
}

/** `-qy` as `-q` and `-y`, if all of them are boolean. */
function separate(text: string, flags: FlagShapes): readonly string[] {
  if (!/^-\w{2,}$/.test(text)) return [text];
  const each = [...text.slice(1)].map((char) => `-${char}`);
  return each.every((one) => flags[nameOf(one, flags) ?? '']?.type === 'boolean') ? each : [text];
}

/** The next word is the value of this one, whatever it looks like. */
function awaitsValue(text: string, flags: FlagShapes): boolean {
  return flags[nameOf(text, flags) ?? '']?.type === 'option';
}

function nameOf(written: string, flags: FlagShapes): string | undefined {
  if (written.startsWith('--')) return Object.hasOwn(flags, written.slice(2)) ? written.slice(2) : undefined;
  return Object.keys(flags).find((name) => flags[name]?.char !== undefined && written === `-${flags[name].char}`);
}

/** The environment twin of a flag: `--as-group` → `NETSVC_UPGRADE_AS_GROUP`. */
export function twinOf(flag: string): string {
  return `NETSVC_UPGRADE_${flag.replaceAll('-', '_').toUpperCase()}`;
}

/** Flags whose value is a credential: no screen, record, report or suggested command has it, and no other program gets their variables. */
export const CREDENTIAL_FLAGS: readonly string[] = ['token', 'notify'];

/**
 * What other programs get: no credentials meant for this one alone, whatever the case of their names. PATH loses its relative and empty
 * entries, so nothing is found in the current folder.
 */
export function forPrograms(env: Environment): Environment {
  const own = CREDENTIAL_FLAGS.map(twinOf);
  const kept = Object.entries(env).filter(([name]) => !own.includes(name.toUpperCase()));
  return Object.fromEntries(kept.map(([name, value]) => [name, name.toUpperCase() === 'PATH' ? absoluteOnly(value) : value]));
}

function absoluteOnly(path: string | undefined): string | undefined {
  return path?.split(delimiter).filter(isAbsolute).join(delimiter);
}

/**
 * argv with the environment's values put before it, for every flag that argv itself does not set.
 * Lists are split at commas; a boolean is on for 1, true, yes, off for 0, false, no and the empty text.
 */
function withEnvironment(argv: readonly string[], flags: FlagShapes, env: Environment): readonly string[] {
  const own = ownWords(argv);
  const added = Object.entries(flags).flatMap(([name, flag]) => {
    const value = env[twinOf(name)];
    return value === undefined || value === '' || own.some((word) => setsFlag(word, name, flag)) ? [] : written(name, flag, value);
  });
  return [...added, ...argv];
}

/** True if this word of a command line sets the flag. */
function setsFlag(word: string, name: string, flag: FlagShape): boolean {
  if (word === `--${name}` || word.startsWith(`--${name}=`)) return true;
  return flag.char !== undefined && word.startsWith(`-${flag.char}`) && !word.startsWith('--');
}

function written(name: string, flag: FlagShape, value: string): readonly string[] {
  if (flag.type === 'boolean') return isOn(name, value) ? [`--${name}`] : [];
  const values = flag.multiple ? value.split(',').filter((one) => one !== '') : [value];
  return values.map((one) => `--${name}=${one}`);
}

function isOn(name: string, value: string): boolean {
  if (/^(1|true|yes)$/i.test(value)) return true;
  if (/^(0|false|no)$/i.test(value)) return false;
  throw new Fault('usage', `${twinOf(name)}=${value} is neither true nor false`, [`set it to true or false, or unset it`]);
}

/** What was thrown; an error that came before the cluster was known has its next command from here. */
export async function beforeCluster(thrown: unknown, asked: Asked): Promise<unknown> {
  if (!(thrown instanceof Fault) || thrown.end !== undefined) return thrown;
  const { faultHere } = await import('./fault-end.ts');
  return faultHere(thrown, { ...asked, header: undefined, isConnected: false, isUnchanged: true });
}

/** A command line that runs, and what is needed to say what went wrong with it. */
interface Running {
  readonly argv: readonly string[];
  /** Names of the flags that the command has. */
  readonly flags: readonly string[];
  readonly seams: Seams;
}

/** The exit code of a command's work; every error is told here, and ends here. */
export async function exitCodeOf({ argv, flags, seams }: Running, work: () => Promise<unknown>): Promise<number> {
  try {
    const exit = await work();
    return isExitName(exit) ? EXIT[exit] : EXIT.done;
  } catch (thrown) {
    const { faultEnded } = await import('./fault-end.ts');
    const fault = faultEnded(toFault(thrown, { command: argv[0] ?? '', flags }), argv[0] ?? '');
    const text = inWordsOf(seams.name, errorText(fault, argv, seams.env, defectIn(fault, seams)));
    if (asksForJson(argv, seams.env)) seams.terminal.err(text);
    else tellErr(seams.terminal, text);
    return EXIT[fault.code];
  }
}

/** Where a defect came from, for whoever fixes it. */
function defectIn(fault: Fault, { env }: Seams): readonly string[] {
  return fault.code === 'failed' && env.NETSVC_UPGRADE_DEBUG && fault.cause instanceof Error ? [fault.cause.stack ?? ''] : [];
}

function isExitName(value: unknown): value is ExitName {
  return typeof value === 'string' && Object.hasOwn(EXIT, value);
}
