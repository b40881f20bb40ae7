import type { Context, Options } from './context.ts';
import { type ExitName, Fault, LeftFault, leftText, MovedOn, PodFault } from './fault.ts';
import { intentOf } from './intent.ts';
import { RUN_RECORD_VERSION, type RunRecord, runIdOf, type StageRecord, UNKNOWN_PATH } from './run-record.ts';
import type { Remember } from './stage.ts';

/** Who begins or continues a run, and with which command. */
export interface Beginner {
  readonly context: Context;
  /** `alice@host`. */
  readonly operator: string;
  readonly toolVersion: string;
}

/** The record of a run that nothing is known of yet but who wants it. */
export function freshRecord({ context, operator, toolVersion }: Beginner): RunRecord {
  const { options, profile, clusterUid, startedAt } = context;
  return {
    version: RUN_RECORD_VERSION,
    runId: runIdOf(startedAt, clusterUid),
    clusterUid,
    profile: profile.name,
    intent: intentOf(context),
    path: options.path ?? UNKNOWN_PATH,
    digests: {},
    startedAt: startedAt.toISOString(),
    startedBy: operator,
    toolVersion,
    accepted: acceptedTexts(options),
    stages: [],
    wrote: [],
    kept: [],
  };
}

/**
 * The record before a stage's next write; `before` is the run's record so far. Findings from before the first write stay: a release that was
 * unknown when a stage looked stays unknown, as the live cluster no longer tells it.
 */
export function begunRecord(before: RunRecord | undefined, { source, oldest, ...remember }: Remember, beginner: Beginner): RunRecord {
  const base = before ?? freshRecord(beginner);
  const path = base.path === UNKNOWN_PATH ? (remember.path ?? base.path) : base.path;
  const intent = isUnseen(base) && source !== undefined ? { ...base.intent, from: source } : base.intent;
  const releases = isUnseen(base) ? definedOf({ oldest }) : {};
  const merged = before ? { ...remember, ...definedOf(base), path, ...releases } : { ...base, ...remember, ...releases };
  const { options, savedPlan: plan = base.plan, flags: given = [], leftFlags = [] } = beginner.context;
  // Each stays until it is given again: a stage that is performed alone knows few of them.
  const isKept = (flag: string) => !leftFlags.some((begin) => flag.startsWith(begin)) && !given.some((one) => nameOf(one) === nameOf(flag));
  const flags = [...(base.flags ?? []).filter(isKept), ...given];
  const takesBackup = base.backup === undefined && merged.backup !== undefined && beginner.operator !== base.startedBy;
  return {
    ...base,
    ...merged,
    ...(takesBackup ? { backupBy: beginner.operator } : {}),
    intent,
    // Chosen again by each command, of those before the ones that were replaced.
    ...definedOf({ plan, canary: remember.canary }),
    flags: flags.length > 0 ? flags : undefined,
    digests: { ...remember.digests, ...base.digests },
    accepted: [...new Set([...base.accepted, ...acceptedTexts(options)])],
    outcome: undefined,
  };
}

/** No stage has looked at what is installed: whoever replaces it has (`oldest`). */
function isUnseen(record: RunRecord): boolean {
  return record.intent.from === undefined && record.oldest === undefined;
}

/** The stages of this part of the run take the place of what the record said about them. */
export function withStages(record: RunRecord, stages: readonly StageRecord[]): RunRecord {
  const mine = new Set(stages.map((one) => one.id));
  return { ...record, stages: [...record.stages.filter((one) => !mine.has(one.id)), ...stages] };
}

/** The stage is about to write: noted before, for it may be interrupted at any moment. */
export function withWriter(record: RunRecord, stage: StageRecord['id']): RunRecord {
  return { ...record, wrote: [...new Set([...record.wrote, stage])] };
}

/** `finishedAt` only for a run that is over: the next one with this target is another. */
export function endedRecord(record: RunRecord, exit: ExitName, finishedAt: string | undefined): RunRecord {
  const outcome = exit === 'done' || exit === 'interrupted' || exit === 'stopped' ? exit : 'failed';
  return { ...record, outcome, ...definedOf({ finishedAt }) };
}

/** Where to look after a stage ended early, and what is left to do. */
export function shownBy(thrown: unknown): Pick<StageRecord, 'pod' | 'node' | 'left'> {
  const pod = thrown instanceof PodFault ? thrown.pods[0] : undefined;
  const { node } = (thrown instanceof Fault && thrown.steps.find(({ kind }) => kind === 'look')?.more) || {};
  return definedOf({ pod, node, left: thrown instanceof LeftFault ? leftText(thrown) : undefined });
}

/** What the run has left to the user by now. */
export const owedBy = ({ owed = [] }: RunRecord, thrown: unknown): Pick<RunRecord, 'owed'> =>
  owing([...owed, ...(thrown instanceof LeftFault || thrown instanceof MovedOn ? thrown.owed : [])]);

/** What a run that is not finished left to the user: one the other way does not come to those nodes. */
export const owedOther = ({ finishedAt, owed = [], stages }: RunRecord): Pick<RunRecord, 'owed'> =>
  finishedAt === undefined ? owing([...owed, ...stages.flatMap(({ left }) => left ?? [])]) : {};

/** A run that is resumed every minute must not fill the record. */
const MOST_OWED = 50;

const owing = (all: readonly string[]): Pick<RunRecord, 'owed'> => (all.length > 0 ? { owed: [...new Set(all)].slice(-MOST_OWED) } : {});

/** `NS-712=node-01`: as it is written on the command line. */
function acceptedTexts({ accept }: Pick<Options, 'accept'>): readonly string[] {
  return accept.map(({ check, subject }) => (subject === undefined ? check : `${check}=${subject}`));
}

const nameOf = (flag: string): string => flag.replace(/=.*/s, '');

function definedOf<T extends object>(record: T): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
