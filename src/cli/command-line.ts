import { delimiter, isAbsolute } from 'node:path';
import { Fault } from '../kernel/fault.ts';
import { mask } from '../kernel/hidden.ts';
import { quoteFor } from '../kernel/quoting.ts';
import { palette } from '../report/colour.ts';
import { CARRIED, type CarriedFlag, isOn } from './carried.ts';
import { CHAINS, chainOf } from './command-names.ts';
import { asksForJson, errorText } from './error-text.ts';
import { type Failed, toFault } from './faults.ts';
import { FLAG_ROWS } from './flags.ts';
import type { Environment, Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';
import { tellErr } from './terminal.ts';
import { USER_COMMANDS } from './user-commands.ts';

/** A command line that was read. */
export interface Parsed {
  readonly command: string;
  /** What of it is meant, for a command that does several things. */
  readonly action?: string | undefined;
  /** As the user wrote it. */
  readonly typed: readonly string[];
  readonly flags: SessionFlags;
  /** Names of the flags that somebody set. */
  readonly given: ReadonlySet<string>;
  /** Names of the commands that this version has. */
  readonly commands: readonly string[];
}

/** What a command is asked for, with everything that continues it. */
export function askedOf({ command, action, typed, flags, given, commands }: Parsed): Asked {
  if (flags.rollback) refuseForward(given);
  const own = USER_COMMANDS.flatMap((name) => (given.has(name) ? [`--${name}=${flags[name]}`] : []));
  const line = [command, ...withoutFlags(typed, [...CREDENTIAL_FLAGS, ...USER_COMMANDS]).map(quoted), ...own.map(quoted)].join(' ');
  const chain = flags.rollback ? CHAINS['plan back'] : chainOf(command, action);
  return { command, chain, flags, typed: line, carried: carriedFlags(flags, given), commands };
}

/** The run record says where a rollback goes: flags that say where an upgrade goes, and by what, have no place in its plan. */
function refuseForward(given: ReadonlySet<string>): void {
  const other = FLAG_ROWS.find(([name, row]) => given.has(name) && row.helpGroup === 'run' && !isOn(row, 'rollback'));
  if (other)
    throw new Fault('usage', `--${other[0]} has no effect with --rollback`, ['leave it out: the run record says where a rollback goes']);
}

/** A word as it may be shown: what was typed into an address is not repeated. */
const quoted = (word: string) => quoteFor(process.platform, mask(word));

/** Flags whose value is a credential: no screen, record, report or suggested command has it, and no other program gets their variables. */
export const CREDENTIAL_FLAGS: readonly string[] = ['token', 'notify'];

function withoutFlags(argv: readonly string[], flags: readonly string[]): readonly string[] {
  const names = flags.map((name) => `--${name}`);
  const isOne = (word = '') => names.some((name) => word === name || word.startsWith(`${name}=`));
  return argv.filter((word, index) => !isOne(word) && !names.includes(argv[index - 1] ?? ''));
}

/** Flags that somebody set, and that the next command needs as well. */
function carriedFlags(flags: SessionFlags, given: ReadonlySet<string>): readonly CarriedFlag[] {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  return CARRIED.filter((name) => given.has(name)).flatMap((name) => {
    const value = values[name];
    if (value === true) return [{ name, word: `--${name}` }];
    return (Array.isArray(value) ? value : [value]).map((one) => ({ name, word: mask(`--${name}=${one}`) }));
  });
}

/** Variables of credentials. */
const SECRET_VARIABLES = FLAG_ROWS.flatMap(([name, { env }]) => (env !== undefined && CREDENTIAL_FLAGS.includes(name) ? [env] : []));

/** Variables that only the start script sets: its name, and that those of glibc are its own. */
const START = ['NETSVC_ARGV0', 'NETSVC_ARENAS'];
const OF_GLIBC = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_'];

/**
 * What other programs get: no credentials meant for this one alone, whatever the case of their names, and nothing of its start script. PATH loses its relative and empty
 * entries, so nothing is found in the current folder.
 */
export function forPrograms(env: Environment): Environment {
  const started = env.NETSVC_ARENAS === undefined ? START : [...START, ...OF_GLIBC];
  const kept = Object.entries(env).filter(([name]) => !SECRET_VARIABLES.includes(name.toUpperCase()) && !started.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, name.toUpperCase() === 'PATH' ? absoluteOnly(value) : value]));
}

function absoluteOnly(path: string | undefined): string | undefined {
  return path?.split(delimiter).filter(isAbsolute).join(delimiter);
}

/** What was thrown; an error that came before the cluster was known has its next command from here. */
export async function beforeCluster(thrown: unknown, asked: Asked): Promise<unknown> {
  if (!(thrown instanceof Fault) || thrown.end !== undefined) return thrown;
  const { faultHere } = await import('./fault-end.ts');
  return faultHere(thrown, { ...asked, header: undefined, isConnected: false, isUnchanged: true });
}

/** A command line that failed. */
interface Ran extends Failed {
  readonly argv: readonly string[];
  readonly seams: Seams;
}

/** Tells on stderr what was thrown, and what it is to this program. */
export async function toldFault(thrown: unknown, { argv, seams, ...failed }: Ran): Promise<Fault> {
  const { faultEnded } = await import('./fault-end.ts');
  const fault = faultEnded(toFault(thrown, failed), failed.command);
  const text = errorText(fault, argv, defectIn(fault, seams), palette({ isTerminal: seams.terminal.errIsTerminal, env: seams.env }));
  if (asksForJson(argv)) seams.terminal.err(text);
  else tellErr(seams.terminal, text);
  return fault;
}

/** Where a defect came from, for whoever fixes it. */
function defectIn(fault: Fault, { env }: Seams): readonly string[] {
  return fault.code === 'failed' && env.NETSVC_UPGRADE_DEBUG && fault.cause instanceof Error ? [fault.cause.stack ?? ''] : [];
}
