import { command, ownCommand } from '../kernel/command.ts';
import { Fault, UnchangedFault } from '../kernel/fault.ts';
import { HIDDEN, mask } from '../kernel/hidden.ts';
import type { IntentKind } from '../kernel/intent.ts';
import { type RunRecord, STATE_NAMESPACE } from '../kernel/run-record.ts';
import { look, Step, text } from '../kernel/step.ts';
import { CARRIED, type CarriedFlag, carriedNames, carriedTo } from './carried.ts';
import { FLAG_ROWS, type RunFlags } from './flags.ts';
import type { Terminal } from './terminal.ts';
import { givenAgainLines } from './user-commands.ts';

/* What a run record says of the command line of its run. Whoever may write the record chose it. */

const CONNECTION = carriedNames('kubectl');

const namesOf = (trait: 'recorded' | 'decidesTrust' | 'multiple' | 'isUserCommand' | 'isPace') =>
  new Set(FLAG_ROWS.flatMap(([name, row]) => (row[trait] ? [name] : [])));
/** What a command that looks at a run takes from its record: which release, from where, installed how. */
const TAKEN = namesOf('recorded');
const DECIDES_TRUST = namesOf('decidesTrust');
const REPEATABLE = namesOf('multiple');
const USER_COMMANDS = namesOf('isUserCommand');

const ENDS = ['through', 'until'];
const PACES = namesOf('isPace');

type Record = Pick<RunRecord, 'clusterUid' | 'flags' | 'outcome' | 'startedBy'> | undefined;

/** The flags of the record, if it is of this cluster; none of the connection, and nothing that is no flag of a run. */
function flagsIn(record: Pick<RunRecord, 'clusterUid' | 'flags'> | undefined, clusterUid: string): readonly CarriedFlag[] {
  if (record?.clusterUid !== clusterUid || !Array.isArray(record.flags)) return [];
  return record.flags.flatMap((word: unknown): readonly CarriedFlag[] => {
    const name = typeof word === 'string' ? (/^--([a-z-]+)(?:=|$)/.exec(word)?.[1] ?? '') : '';
    return CARRIED.includes(name) && !CONNECTION.includes(name) ? [{ name, word: mask(String(word)), fromRecord: true }] : [];
  });
}

const isNotAmong = (flags: readonly CarriedFlag[]) => {
  const names = new Set(flags.map(({ name }) => name));
  return ({ name }: CarriedFlag) => !names.has(name);
};

/** Flags for a suggested command: those of the command line, then those of the record of this cluster that decide no trust. */
export function withRecorded(flags: readonly CarriedFlag[], record: Record, clusterUid: string): readonly CarriedFlag[] {
  // The part of the chain that was asked for is done: with its end the next command would do nothing.
  const over = record?.outcome === 'done' ? ENDS : [];
  const more = flagsIn(record, clusterUid).filter(({ name }) => !DECIDES_TRUST.has(name) && !over.includes(name));
  return [...flags, ...more.filter(isNotAmong(flags))];
}

const PLACE = `the run record in namespace ${STATE_NAMESPACE}`;
const it = ({ length }: readonly unknown[]) => (length === 1 ? 'it' : 'them');

/** What a suggested command has from the record of this cluster, as a line for the user. */
export function takenLines(command: string, flags: readonly CarriedFlag[]): readonly string[] {
  const taken = flags.filter(({ fromRecord, name }) => fromRecord && carriedNames(command).includes(name));
  if (taken.length === 0) return [];
  const them = it(taken);
  return [`taken from ${PLACE}, you did not type ${them}:${carriedTo(command, taken)} (check ${them} before you use ${them})`];
}

/** That, and what it lacks. */
export function recordedLines(command: string, flags: readonly CarriedFlag[], record: Record, clusterUid: string): readonly string[] {
  return [...takenLines(command, flags), ...leftOutLines(command, flags, record, clusterUid)];
}

/** What the run had and a suggested command lacks: whoever can write the record chose it, so it is no part of a command, but told. */
export function leftOutLines(command: string, flags: readonly CarriedFlag[], record: Record, clusterUid: string): readonly string[] {
  const known = flagsIn(record, clusterUid).filter(({ name }) => DECIDES_TRUST.has(name) && carriedNames(command).includes(name));
  const missing = known.filter(isNotAmong(flags));
  const left = missing.filter(({ name }) => !USER_COMMANDS.has(name));
  const names = missing.flatMap(({ name }) => (USER_COMMANDS.has(name) ? [name] : []));
  const again = record ? givenAgainLines(names, record) : [];
  if (left.length === 0) return again;
  const [decides, them] = left.length === 1 ? ['it decides', 'it'] : ['they decide', 'them'];
  const words = carriedTo(command, left);
  return [
    `the run also had${words}; not in the command, because ${decides} what is trusted: add ${them} yourself, if you still trust ${them}`,
    ...again,
  ];
}

/** The user's word for flags of the record that decide trust. Throws Fault where the command cannot do without. */
export type Agree = (flags: readonly CarriedFlag[]) => Promise<boolean>;

interface Asking {
  readonly clusterUid: string;
  readonly uses: Uses;
  /** What a command that resumes is for: of a run for something else it takes nothing. Absent: of any run. */
  readonly intent?: IntentKind | undefined;
  readonly agree: Agree;
}

/**
 * How a command uses the record: one that `looks` at a run takes from it what its own flags do not say. One that `resumes` it is only asked
 * for what decides trust, at a terminal.
 */
export type Uses = 'looks' | 'resumes';

/** The flags of a command with what the record of the run says where they do not, and what that is as flags of the next command. */
export async function flagsWithRecord(
  flags: RunFlags,
  record: RunRecord | undefined,
  { clusterUid, uses, intent: own, agree }: Asking,
): Promise<{ readonly flags: RunFlags; readonly recorded: readonly CarriedFlag[] }> {
  const { finishedAt, intent } = record ?? {};
  const isAnother = own !== undefined && own !== intent?.kind;
  const isOther = isAnother || finishedAt !== undefined || (flags.release !== undefined && flags.release !== intent?.to);
  if (record?.clusterUid !== clusterUid || (uses === 'resumes' && isOther)) return { flags, recorded: [] };
  const given = new Set(Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [name])));
  const wanted = uses === 'looks' ? TAKEN : DECIDES_TRUST;
  const recorded = flagsIn({ clusterUid, flags: [...(record.flags ?? []), `--release=${record.intent.to}`] }, clusterUid)
    .filter(({ name }) => wanted.has(name) && !given.has(name) && !USER_COMMANDS.has(name))
    .filter(({ name }, index, all) => REPEATABLE.has(name) || all.findIndex((one) => one.name === name) === index);
  const trusted = recorded.filter(({ name }) => DECIDES_TRUST.has(name));
  if (trusted.length > 0 && !(await agree(trusted))) return { flags, recorded: [] };
  const taken = [...Map.groupBy(recorded, ({ name }) => name)].map(([name, words]) => [name, valueIn(name, words)]);
  return { flags: { ...flags, ...Object.fromEntries(taken) }, recorded };
}

/** The release that a continued upgrade goes to, where no flag says it: without it the next command would mean the usual one. */
export function recordedRelease(
  { release }: Pick<RunFlags, 'release'>,
  { kind, to }: { readonly kind: IntentKind; readonly to?: string },
  usual: string,
): readonly CarriedFlag[] {
  if (kind !== 'upgrade' || to === undefined || to === usual || release !== undefined) return [];
  return [{ name: 'release', word: `--release=${to}`, fromRecord: true }];
}

function valueIn(name: string, words: readonly CarriedFlag[]): unknown {
  const values = words.map(({ word }) => (word === `--${name}` ? true : word.slice(`--${name}=`.length)));
  return REPEATABLE.has(name) ? values : values[0];
}

interface Asked {
  readonly typed: string;
  readonly flags: { readonly yes?: boolean };
  readonly usesRecord?: Uses;
}

/** Asks once for all of them, at a terminal. Throws Fault('usage') where a command that looks cannot ask, or a value is known only in part. */
export function agreeing(terminal: Terminal, { typed, flags: { yes }, usesRecord }: Asked, stop: AbortSignal): Agree {
  return async (flags) => {
    const [words, them] = [carriedTo('run', flags), it(flags)];
    const says = `${PLACE} says${words}`;
    const mayAsk = terminal.interactive && !yes && flags.every(({ word }) => !word.includes(HIDDEN));
    if (mayAsk && (await terminal.confirm(`${says}. You did not type ${them}, and this decides what is trusted. Use ${them}?`, stop)))
      return true;
    if (usesRecord !== 'looks') return false;
    const steps = [
      new Step('fix', text`type what is yours: ${ownCommand(typed + words)}`),
      look(text`see what the run did: ${command`kubectl netsvc-upgrade status`}`),
    ];
    if (mayAsk) throw new UnchangedFault('stopped', 'declined: nothing was changed', steps);
    throw new Fault('usage', `${says}: this decides what is trusted, and you did not type ${them}`, steps);
  };
}

/** What the command line of the run said. Whoever may write the record chose it: it is shown, and nothing else. */
export function flagIn({ flags }: Pick<RunRecord, 'flags'>, name: string, fits = /^[\w.]{1,20}$/): string | undefined {
  const words: readonly unknown[] = Array.isArray(flags) ? flags : [];
  const word = words.find((one) => typeof one === 'string' && one.startsWith(`--${name}=`));
  const value = typeof word === 'string' ? word.slice(name.length + 3) : undefined;
  return value !== undefined && fits.test(value) ? value : undefined;
}

/** The agents may be away as the run asked for, which is a strategy of ours until its end: `is` is in words. */
export const hasPace = (record: Pick<RunRecord, 'flags'>, is: string): boolean =>
  [...PACES].some((name) => is.split(', ').includes(`maxUnavailable ${flagIn(record, name, /./)}`));
