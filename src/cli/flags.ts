import { quoteFor } from '../kernel/argv.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { oneLine } from '../kernel/visible.ts';
import { commonFlags, type OUTPUT_FORMATS } from './common-flags.ts';
import { type Row, rowsOf, type Values } from './flag.ts';
import { stageFlags } from './stage-flags.ts';
import { targetFlags } from './target-flags.ts';

/** The one table of flags, in the order of the help. */
export const flags = { ...stageFlags, ...targetFlags, ...commonFlags };

/** The values of flags as parsed: flag over environment over default. */
export type RunFlags = Values<typeof flags> & { readonly forget?: boolean };

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const FLAG_ROWS: readonly (readonly [string, Row])[] = rowsOf(flags);

const isOn = ({ on, as }: Row, command: string) => on?.includes(command) || Object.hasOwn(as ?? {}, command);

/** The flags of a command, as its class has them: a value that it does not have is never there. */
export function flagsOf(command: string): typeof flags {
  const rows = FLAG_ROWS.filter(([, row]) => isOn(row, command));
  return Object.fromEntries(rows.map(([name, row]) => [name, { ...row, ...row.as?.[command] }])) as unknown as typeof flags;
}

/** A flag of the command line that the next command needs as well. */
export interface CarriedFlag {
  /** `context`. */
  readonly name: string;
  /** The word itself, not quoted: `--context=prod`. */
  readonly word: string;
  /** From the environment, which the next command of this shell has as well, but another machine does not. */
  readonly fromEnvironment?: true;
  /** It was read from the run record: whoever may write that chose it. */
  readonly fromRecord?: true;
}

/** In the order in which the next command is given them: the connection first. */
const CARRIED_ROWS = rowsOf(commonFlags, targetFlags, stageFlags).filter(([, { carried }]) => carried);

/** Every flag that is carried to one command or another. */
export const CARRIED = CARRIED_ROWS.map(([name]) => name);

/** Those that helm has, by its own names. */
const HELM = new Map(CARRIED_ROWS.flatMap(([name, { helm }]) => (helm === undefined ? [] : [[name, helm] as const])));

/** Names of the flags that a command may be given from the one before it; `kubectl` and `helm` themselves are such commands. */
export function carriedNames(command: string): readonly string[] {
  if (command === 'helm') return [...HELM.keys()];
  return CARRIED_ROWS.filter(([, row]) => isOn(row, command)).map(([name]) => name);
}

/** Flags of the connection, which kubectl has under the same names; credentials are not carried. */
const CONNECTION = carriedNames('kubectl');

/** The flags that belong to the run, whoever continues it from wherever; none of the connection. */
export function flagsOfRun(flags: readonly CarriedFlag[]): readonly string[] {
  return flags.filter(({ name }) => !CONNECTION.includes(name)).map(({ word }) => word);
}

/** Recorded flags, where the command line says nothing else. Unknown flags of a run and flags of the connection are left out. */
export function withRecorded(flags: readonly CarriedFlag[], recorded: unknown): readonly CarriedFlag[] {
  const words = Array.isArray(recorded) ? recorded.filter((one) => typeof one === 'string') : [];
  const more = words.flatMap((word): readonly CarriedFlag[] => {
    const name = /^--([a-z-]+)(?:=|$)/.exec(word)?.[1] ?? '';
    return CARRIED.includes(name) && !CONNECTION.includes(name) ? [{ name, word, fromRecord: true }] : [];
  });
  const here = flags.filter(({ fromEnvironment }) => !fromEnvironment);
  return [...here, ...more.filter(({ name }) => !flags.some((one) => one.name === name))];
}

/** What a command that looks at a run takes from its record: which release, from where, installed how. Each is one word. */
const TAKEN = FLAG_ROWS.flatMap(([name, { recorded }]) => (recorded ? [name] : []));

/** The flags of a command with what the record of the run says where they do not, and what that is as flags of the next command. */
export function flagsWithRecord<Flags extends object>(
  flags: Flags,
  record: RunRecord | undefined,
  clusterUid: string,
): { readonly flags: Flags; readonly recorded: readonly CarriedFlag[] } {
  if (record?.clusterUid !== clusterUid) return { flags, recorded: [] };
  const given = new Set(Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [name])));
  const words = [...(record.flags ?? []), `--release=${record.target}`];
  const isTaken = ({ name }: CarriedFlag) => TAKEN.includes(name) && !given.has(name);
  const recorded = withRecorded([], words)
    .filter(isTaken)
    .filter(({ name }, index, all) => all.findIndex((one) => one.name === name) === index);
  const taken = Object.fromEntries(recorded.map(({ name, word }) => [name, word.slice(`--${name}=`.length)]));
  return { flags: { ...flags, ...taken }, recorded };
}

/** Where the recorded flags of a suggested command come from, as a line for the user; undefined if it has none. */
export function recordedFlagsLine(command: string, flags: readonly CarriedFlag[], record: string): string | undefined {
  const fromRecord = flags.filter((one) => one.fromRecord && carriedNames(command).includes(one.name));
  const told = carriedTo(command, fromRecord);
  if (told === '') return undefined;
  const them = fromRecord.length === 1 ? 'it' : 'them';
  return `taken from the run record in ${record}, you did not type ${them}:${told} (check ${them} before you use ${them})`;
}

/** Programs that do not read this program's environment variables. */
const OTHERS: ReadonlySet<string> = new Set(['kubectl', 'helm']);

/** The carried flags that a command knows, each quoted for the shell and with a space before it; empty if there are none. */
export function carriedTo(command: string, flags: readonly CarriedFlag[]): string {
  const [program = ''] = command.split(' ');
  const known = carriedNames(program);
  return flags
    .filter(({ name, fromEnvironment }) => known.includes(name) && (!fromEnvironment || OTHERS.has(program)))
    .map(({ name, word }) => ` ${quoteFor(process.platform, oneLine(program === 'helm' ? inHelmsWords(name, word) : word))}`)
    .join('');
}

/** What continues a run, from wherever: `flags` of the command line, and those of its record. */
export function resumeCommand(flags: readonly CarriedFlag[]): string {
  return `kubectl netsvc-upgrade run${carriedTo('run', flags)}`;
}

function inHelmsWords(name: string, word: string): string {
  return `--${HELM.get(name) ?? name}${word.slice(`--${name}`.length)}`;
}
