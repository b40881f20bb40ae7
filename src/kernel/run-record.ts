import type { Context } from './context.ts';
import { type DataPlane, type InstallPath, isInstallPath } from './installation.ts';
import { type Intent, intentOf, type TakenBack } from './intent.ts';
import type { JournalNote } from './journal.ts';
import type { NoReturn, StepPlace } from './plan.ts';
import type { NoReturnPoint } from './undo.ts';

/** Version of the record's layout. A newer one than this program knows is refused, never rewritten. */
export const RUN_RECORD_VERSION = 2;

/** Where lock and state are. Whoever may write Secrets here has the cluster already (docs/internals/threat-model.md). */
export const STATE_NAMESPACE = 'kube-system';

/** The Secret of the run record. */
export const RECORD_NAME = 'netsvc-upgrade-run';

/** Of a run whose first write was by a stage that does not look at the installation. */
export const UNKNOWN_PATH = 'unknown';

export type RecordedPath = InstallPath | typeof UNKNOWN_PATH;

export const isRecordedPath = (value: unknown): value is RecordedPath => value === UNKNOWN_PATH || isInstallPath(value);

export interface PodName {
  readonly namespace: string;
  readonly name: string;
  /** The container whose log has the reason, as it runs now or as it ended; absent: the pod's events have it. */
  readonly log?: { readonly container: string; readonly of: 'running' | 'former' };
}

export interface StageRecord {
  readonly id: string;
  /** `interrupted`: the user stopped it, or it was killed; the same command continues it. `held`: it has stopped where it was told to. */
  readonly state: 'running' | 'done' | 'skipped' | 'failed' | 'interrupted' | 'held';
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly because?: string;
  /** Steps that only the user can do, and that it waits for; absent for none. */
  readonly manual?: number;
  /** That shows why it failed. */
  readonly pod?: PodName;
  /** What runs there shows why it failed. */
  readonly node?: string;
  /** What only the user can do there, as it ended early. */
  readonly left?: string;
  /** Who holds the lock as `by` is at work at something that takes so long, since then. */
  readonly watch?: { readonly since: string; readonly ms: number; readonly by: string };
  /** It took back what the stage of this name did. */
  readonly undo?: true;
}

/** The last stage that has not come to its end; undefined where each has. */
export function openStage({ stages }: Pick<RunRecord, 'stages'>): StageRecord | undefined {
  return stages.findLast(({ state }) => state !== 'done' && state !== 'skipped');
}

/** As it is told: where nobody holds the lock, a command that was killed could not note its end. */
export function toldRecord(record: RunRecord | undefined, isHeld: boolean): RunRecord | undefined {
  if (!record || isHeld) return record;
  const ended = { state: 'interrupted', because: 'its command was killed, or lost its connection to the cluster' } as const;
  return { ...record, stages: record.stages.map((one) => (one.state === 'running' ? { ...one, ...ended } : one)) };
}

/** True if the run has stopped where it was told to, and the user says how it continues. */
export const waitsForUser = ({ stages }: Pick<RunRecord, 'stages'>): boolean => stages.some(({ state }) => state === 'held');

/** How far a part of a run came in the plan that was agreed to. */
export interface RunProgress extends StepPlace {
  /** The stage is at work, or was killed: it is at one of its steps up to this one. */
  readonly last?: number;
  readonly noReturn?: NoReturn;
}

/**
 * What the cluster cannot tell any more once writing has begun (house rule 4): one per cluster, written before the first write and every
 * removal. It never holds a Secret's value.
 */
export interface RunRecord {
  readonly version: typeof RUN_RECORD_VERSION;
  readonly runId: string;
  readonly clusterUid: string;
  readonly profile: string;
  readonly intent: Intent;
  readonly path: RecordedPath;
  readonly variant?: string;
  /** Of the agents then; absent where it could not be read. */
  readonly dataPlane?: DataPlane;
  /** The oldest of the agents and the API server then, or `unknown`: owner references go by it (§4.8). Absent where no stage has looked. */
  readonly oldest?: string;
  /** Nodes of the cluster then. */
  readonly nodes?: number;
  /** Those whose agents it replaces alone, before it stops or watches them. */
  readonly canary?: readonly string[];
  /** sha256 of artifacts by file name, `upgrade.yaml` among them. */
  readonly digests: Readonly<Record<string, string>>;
  readonly startedAt: string;
  readonly startedBy: string;
  readonly toolVersion: string;
  readonly accepted: readonly string[];
  readonly stages: readonly StageRecord[];
  /** Ids of stages that wrote something, or were about to; one that a finding stopped before is not among them. */
  readonly wrote: readonly string[];
  /** The run that began this upgrade: a rollback of it was begun, and this one goes forward again. What it wrote and kept and its backup are taken over. */
  readonly resumes?: string;
  /** Ids of what stages keep once; the content is beside the record. What actions keep is found by the run's id alone. */
  readonly kept: readonly string[];
  readonly backup?: string;
  /** Who took it, where that is not who began the run: the folder is on that machine. */
  readonly backupBy?: string;
  /** Of the part that wrote last. */
  readonly progress?: RunProgress;
  /** Why there is no undo any more, noted right before; absent while there is one. */
  readonly noReturn?: { readonly point: NoReturnPoint; readonly at: string };
  /** What is recorded as removed, noted before it is; absent once the journal is forgotten. */
  readonly stripped?: JournalNote | undefined;
  /** UIDs of what the chart release was stored in before the run moved it. What only looks like it is not trusted. */
  readonly moved?: readonly string[];
  /** What it left to the user, and does not do later: a part of it ended early, or somebody else changed what it was at. */
  readonly owed?: readonly string[];
  /** Digest of the saved plan that the run was begun with. */
  readonly plan?: string;
  /** What was chosen on its command line, so that `status` can name the command that continues it: `--manifest-url=/mirror`. */
  readonly flags?: readonly string[];
  readonly finishedAt?: string;
  readonly outcome?: 'done' | 'failed' | 'stopped' | 'interrupted';
}

/** A stage of the run has left manual steps: whether they are done since, `verify` shows. */
export function leavesSteps({ stages }: RunRecord): boolean {
  return stages.some(({ manual = 0 }) => manual > 0);
}

/** What the record says of other state in the cluster, which outlives the run: a later run's record says it too. */
export type RecordNotes = Pick<RunRecord, 'stripped' | 'moved' | 'owed'>;

/** `20261121T020000Z-2c9e0000`: when the run began, and on which cluster. */
export function runIdOf(startedAt: Date, clusterUid: string): string {
  return `${startedAt.toISOString().replace(/[-:]|\.\d+/g, '')}-${clusterUid.slice(0, 8)}`;
}

/** The run that a record may be continued by: its intent, and the cluster it is of (a restored copy is of another). */
export type Continuation = Pick<Context, 'clusterUid' | 'goal' | 'intent'>;

/** True if the record is of an unfinished run with this intent on this cluster. */
export function continues(record: RunRecord | undefined, context: Continuation): record is RunRecord {
  return record?.finishedAt === undefined && isOfIntent(record, context);
}

/** True if the run was told to go no further than to a part of what it is for. */
export function stopsOnPurpose({ flags }: Pick<RunRecord, 'flags'>): boolean {
  const words: readonly unknown[] = Array.isArray(flags) ? flags : [];
  return words.some((word) => typeof word === 'string' && word.startsWith('--until='));
}

/** It has come there. */
export const hasStopped = (record: Pick<RunRecord, 'flags' | 'outcome' | 'finishedAt'>): boolean =>
  stopsOnPurpose(record) && record.outcome === 'done' && record.finishedAt === undefined;

/** True if the record is of a run with this intent on this cluster, finished or not. */
export function isOfIntent(record: RunRecord | undefined, context: Continuation): record is RunRecord {
  if (record?.clusterUid !== context.clusterUid) return false;
  const { kind, to } = intentOf(context);
  return record.intent.kind === kind && record.intent.to === to;
}

/** The upgrade that this one resumes: an unfinished rollback was taking it back, and it is to go forward again. */
export function resumedBackwards(record: RunRecord | undefined, context: Continuation): TakenBack | undefined {
  const { takesBack } = record?.intent ?? {};
  const isOpen = record?.finishedAt === undefined && record?.clusterUid === context.clusterUid;
  const isThere = takesBack?.to === context.goal.release && !takesBack.isOver;
  return isOpen && isThere && context.intent.kind === 'upgrade' ? takesBack : undefined;
}

/** True if this run goes the other way than the recorded one: the same agents are replaced once more. */
export function turns(record: RunRecord | undefined, context: Continuation): boolean {
  const { takesBack } = context.goal;
  const isTakenBack = takesBack !== undefined && record?.intent.kind === 'upgrade' && record.intent.to === takesBack.to;
  return (isTakenBack && record.clusterUid === context.clusterUid) || resumedBackwards(record, context) !== undefined;
}

/** What the record of a run takes over that goes forward again. */
export function takenOver({
  runId,
  since = runId,
  wrote,
  kept = [],
  backup,
}: TakenBack): Pick<RunRecord, 'resumes' | 'wrote' | 'kept' | 'backup'> {
  return { resumes: since, wrote, kept, ...(backup === undefined ? {} : { backup }) };
}

/** The record, if it is of this cluster: nothing of another one's is repeated. */
export function recordHere(record: RunRecord | undefined, { clusterUid }: Pick<Continuation, 'clusterUid'>): RunRecord | undefined {
  return record?.clusterUid === clusterUid ? record : undefined;
}

/** What was there before a removal, by the action that removed it. */
export interface KeptItem {
  readonly id: string;
  readonly content: unknown;
  /** Absent: it cannot be told, for the run was ended before it was noted, or its action tells of none. */
  readonly outcome?: KeptOutcome;
}

/** Items of a run are numbered as they are kept: `…#12`. */
export function numberOf({ id }: Pick<KeptItem, 'id'>): number {
  return Number(/#(\d+)$/.exec(id)?.[1] ?? 0);
}

/** What became of the removal that an item was kept for. */
export interface KeptOutcome {
  /** False: nothing was removed. What of it is gone, somebody else removed. */
  readonly done: boolean;
  /** Of what was to be removed at once, the names that somebody else had removed before. */
  readonly except?: readonly string[];
}

/** One line of what actions keep: what was there, or later what became of it. */
export type KeptLine = Pick<KeptItem, 'id'> & Partial<Omit<KeptItem, 'id'>>;

/** The run record in the cluster (house rule 4). */
export interface Records {
  load(): Promise<RunRecord | undefined>;
  save(record: RunRecord): Promise<void>;
  /** Stores what a stage keeps once beside the record, in place of what was kept under that id; must be durable when it resolves. */
  keep(id: string, content: unknown): Promise<void>;
  /** Adds items and outcomes of removals, durable at once when it resolves; one item per node is fine. */
  append(lines: readonly KeptLine[]): Promise<void>;
  /** What is kept under that very id; what is beside the record needs no right to list Secrets. */
  kept(id: string): Promise<unknown>;
  /** Everything kept under ids with this part, whatever run kept it; sorted by id, so that later runs come last. */
  keptWith(part: string): Promise<readonly KeptItem[]>;
}
