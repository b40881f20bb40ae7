import type { Finding } from '../kernel/check.ts';
import type { Command } from '../kernel/command.ts';
import type { Context } from '../kernel/context.ts';
import { EXIT, type ExitName } from '../kernel/fault.ts';
import type { RunHistory } from '../kernel/history.ts';
import type { JournalNote } from '../kernel/journal.ts';
import type { Tally } from '../kernel/judge.ts';
import type { ObjectRef, OwnerReference } from '../kernel/object.ts';
import type { ObjectState, PlannedObject, PlannedStage } from '../kernel/plan.ts';
import type { LockHolder } from '../kernel/ports.ts';
import type { RunRecord, StageRecord } from '../kernel/run-record.ts';
import { nextStepOf, type Step, type StepDocument } from '../kernel/step.ts';
import type { ChangePacket } from '../report/change-packet.ts';
import type { ReportStage } from '../report/model.ts';

/** Version of every document on stdout (docs/reference/output.md). */
export const OUTPUT_VERSION = 'output.netsvc-upgrade/v1';

/** What every document begins with. */
export interface DocumentHead {
  readonly apiVersion: typeof OUTPUT_VERSION;
  readonly cluster: { readonly uid: string; readonly server: string; readonly context: string };
  readonly profile: string;
  readonly target: string;
  readonly exit: { readonly code: ExitName; readonly number: number };
  readonly next: string;
  /** The same as data; absent where there is none. */
  readonly nextStep?: Step;
  /** Only in report files: two documents of the same state are the same on stdout. */
  readonly made?: Made;
}

/** When and how a report was made. */
export interface Made {
  /** As it was typed, without credentials. */
  readonly commandLine: string;
  /** `alice@host`. */
  readonly by: string;
  readonly at: string;
  readonly toolVersion: string;
}

export interface PreflightReport extends DocumentHead {
  readonly kind: 'PreflightReport';
  readonly tally: Tally;
  readonly findings: readonly Finding[];
}

export interface PlanDocument extends DocumentHead {
  readonly kind: 'Plan';
  /** sha256 of what the plan does; `run --plan-file` compares it. */
  readonly digest: string;
  readonly installed: { readonly path?: string; readonly variant?: string; readonly datastore?: string; readonly release?: string };
  /** Why nothing was done, and what to do about it: only where something was to be done. */
  readonly message?: string;
  readonly suggestions?: readonly string[];
  readonly steps?: readonly Step[];
  /** True if anything would change. */
  readonly writes: boolean;
  readonly tally: Tally;
  readonly findings: readonly Finding[];
  readonly stages: readonly PlannedStage[];
  /** What a change board asks; absent where nothing would change. */
  readonly change?: ChangePacket;
  /** What `run --plan-file` compares, one by one. */
  readonly basis: PlanBasis;
  /** What `--for-git` wrote; absent where it was not asked for, or the user has to decide first. */
  readonly git?: PlannedGit;
}

/** One object as the plan found it. */
export interface BasisObject extends ObjectState {
  readonly stage: string;
  readonly ref: ObjectRef;
  readonly change: PlannedObject['change'];
  /** sha256 of what the plan does to it. */
  readonly does: string;
}

interface BasisAction {
  readonly stage: string;
  readonly id: string;
  /** Of its effect: `exec`, `patch`. */
  readonly type: string;
  /** sha256 of what it does. */
  readonly does: string;
}

/** What a plan was made from, and what it does, piece by piece: so that a stale one can be told from a true one, and why. */
export interface PlanBasis {
  /** sha256 of artifacts by file name. */
  readonly artifacts: Readonly<Record<string, string>>;
  readonly objects: readonly BasisObject[];
  readonly actions: readonly BasisAction[];
}

export interface PlannedGit {
  /** As it was named. */
  readonly directory: string;
  /** Paths in it. */
  readonly files: readonly string[];
  /** Secrets, which are never written. */
  readonly leftOut: readonly string[];
  /** What else has to be changed in Git. */
  readonly notes: readonly string[];
}

export interface RunReport extends DocumentHead {
  readonly kind: 'RunReport';
  readonly command: string;
  readonly dryRun: string;
  /** Of the run record that this command began or continued. */
  readonly runId?: string;
  /** Releases of the service before the run and, where it came to its end, after it. */
  readonly versions?: { readonly before?: string; readonly after?: string };
  readonly message?: string;
  readonly suggestions: readonly string[];
  /** The same as data. */
  readonly steps: readonly Step[];
  /** The commands that a report was put together from; only in that of `report`. */
  readonly parts?: readonly ReportPart[];
  /** Number of actions that changed something. */
  readonly writes: number;
  readonly stages: readonly (StageRecord & Pick<ReportStage, 'durationMs'>)[];
  /** What the run has left to the user at nodes, and does not do later. */
  readonly owed?: readonly string[];
  readonly tally: Tally;
  readonly findings: readonly Finding[];
  readonly plans: readonly PlannedStage[];
  /** What happened when; absent where nothing was begun. */
  readonly history?: RunHistory;
}

/** As it is read again. */
export type KeptReport = Omit<RunReport, 'steps'> & { readonly steps: readonly StepDocument[] };

/** One command of a run. */
interface ReportPart {
  readonly commandLine: string;
  readonly by: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly exit: DocumentHead['exit'];
}

/** The agents that are new while others are held, or still to be replaced. */
export interface CanaryStatus {
  /** Nodes whose agent is replaced and ready; of a canary those that the run chose. */
  readonly ready: readonly string[];
  /** Of a canary those with a new agent that is ready and that the run did not choose: replaced after a soak, joined, or deleted by somebody. */
  readonly others?: readonly string[];
  /** Those whose agent is new, and why it is not ready. */
  readonly notReady: readonly { readonly node: string; readonly because: string; readonly isOther?: boolean }[];
  /** All agents. */
  readonly of: number;
  /** Since when all of `ready` are. */
  readonly since?: string;
  /** They are those of `--canary`; without it this program replaces all of them itself. */
  readonly isCanary?: boolean;
}

export interface StatusDocument extends Omit<DocumentHead, 'profile' | 'target'> {
  readonly kind: 'Status';
  /** Of the recorded run; null without one, since neither is looked up. */
  readonly profile: string | null;
  /** As `profile`. */
  readonly target: string | null;
  readonly lock: LockHolder | null;
  /** Who let it run out without giving it back; the next run watches it for up to 60 s before it takes it. */
  readonly lockLeft: LockHolder | null;
  readonly record: RunRecord | null;
  /** Owner references that the run record says are removed; null if there are none. */
  readonly ownerReferences: Pick<JournalNote, 'objects' | 'references'> | null;
  /** Typha, where a run of this program keeps the operator from it, and that run; null where none does. `more`: what it keeps it from besides. `unlock` does not look it up. */
  readonly held?: { readonly object: ObjectRef; readonly run: string; readonly more?: readonly ObjectRef[] } | null;
  /** The agents, where an unfinished run gave them an update strategy for a while; null where none did. `held`: no agent is replaced. `overridden`: somebody has set another value since; `release`: of its pods, where the run installs another; `selector`: selects them. */
  readonly strategy?: {
    readonly object: ObjectRef;
    readonly is: string;
    readonly held: boolean;
    readonly overridden?: boolean;
    /** `OnDelete` that the run did not set. */
    readonly isForeign?: boolean;
    readonly release?: string;
    readonly selector?: string;
  } | null;
  /** How far a canary is, or a run that is not finished; null where no agent is held, and the DaemonSet has replaced all. */
  readonly canary?: CanaryStatus | null;
  /** What `--soak` watches, while a run is at work; without `since` it waits for all chosen agents. Null for none, and once it is over. `isCut`: its command was killed, and a resumed run begins it again. */
  readonly soak?: { readonly ms: number; readonly since?: string; readonly isCut?: true } | null;
  /** A run that has stopped where `--until` said, since when, and what is open; null for any other. `over`: what it left old is new by now. */
  readonly until?: { readonly part: string; readonly since: string; readonly open: readonly string[]; readonly over?: boolean } | null;
  /** What can be undone, and what else the user may do, as the screen has it. `unlock` does not look it up. */
  readonly steps?: readonly Step[];
}

/** One reference to a resource of the service, and whether it is removed before the upgrade. */
export interface ListedReference {
  readonly object: ObjectRef;
  readonly owner: OwnerReference;
  /** Null where the owners could not be read. */
  readonly exists: boolean | null;
  readonly uidCurrent: boolean | null;
  /** Why it is removed before the upgrade; null if it stays. */
  readonly removal: 'stored-name' | 'uid-change' | 'key-value' | 'stored-uid' | null;
}

export interface OwnerReferenceList extends DocumentHead {
  readonly kind: 'OwnerReferenceList';
  /** Release that the upgrade starts from; null if it is not known. */
  readonly source: string | null;
  readonly references: readonly ListedReference[];
  readonly unread: readonly { readonly kind: string; readonly because: string }[];
}

/** A state on the way to a target. */
interface WayStand {
  readonly release: string;
  /** `1.31` */
  readonly kubernetes: string;
}

/** One upgrade of the service or of Kubernetes. */
export interface WayStepDocument {
  readonly what: 'service' | 'Kubernetes';
  readonly from: WayStand;
  readonly to: WayStand;
  /** First and last minor of Kubernetes that upstream tested that line of the service with. */
  readonly tested: readonly [first: string, last: string];
  /** The page that says so. */
  readonly source: string | null;
  /** Null for what this program does not do. */
  readonly command: string | null;
  /** The same as data: program and arguments. */
  readonly argv: readonly string[] | null;
  /** Where upstream describes it; null for what this program does. */
  readonly page: string | null;
}

/** The shortest way on which upstream tested every state. */
export interface UpgradeWay extends Omit<DocumentHead, 'cluster'> {
  readonly kind: 'UpgradeWay';
  /** Null where no cluster was asked. */
  readonly cluster: DocumentHead['cluster'] | null;
  readonly from: WayStand;
  /** Upstream tested the state that it begins with. */
  readonly fromTested: boolean;
  /** Why there is none. */
  readonly because?: string;
  readonly steps: readonly WayStepDocument[];
}

export type OutputDocument = PreflightReport | PlanDocument | RunReport | StatusDocument | OwnerReferenceList;

export function documentHead(context: Context, exit: ExitName, next: Command | string): DocumentHead {
  const cluster = { uid: context.clusterUid, server: context.server, context: context.contextName };
  const code = { code: exit, number: EXIT[exit] };
  return {
    apiVersion: OUTPUT_VERSION,
    cluster,
    profile: context.profile.name,
    target: context.goal.release,
    exit: code,
    ...nextOf(next),
  };
}

/** The next command in words, and as data. */
export const nextOf = (next: Command | string): Pick<DocumentHead, 'next' | 'nextStep'> =>
  typeof next === 'string' ? { next } : { next: next.plain, nextStep: nextStepOf(next) };
