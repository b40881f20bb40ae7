import { delimiter, isAbsolute } from 'node:path';
import { Fault } from '../kernel/fault.ts';

/** What reading the environment needs to know of a flag. */
export interface FlagShape {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly multiple?: boolean;
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
export function forPrograms(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
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
export function withEnvironment(
  argv: readonly string[],
  flags: Readonly<Record<string, FlagShape>>,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  const added = Object.entries(flags).flatMap(([name, flag]) => {
    const value = env[twinOf(name)];
    return value === undefined || value === '' || own.some((word) => setsFlag(word, name, flag)) ? [] : written(name, flag, value);
  });
  return [...added, ...argv];
}

/** True if this word of a command line sets the flag. */
export function setsFlag(word: string, name: string, flag: FlagShape): boolean {
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
