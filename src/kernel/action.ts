import type { AutomaticSigns, ExpectedCoverage } from '../features/policy-rules/index.ts';
import type { StoreExpected } from '../features/service-cli/index.ts';
import type { Invocation } from './argv.ts';
import type { JsonPatchOp, Kind, KubeObject, ObjectMeta, ObjectRef } from './object.ts';
import type { OperatorEndNames, OperatorTarget } from './operator-view.ts';
import type { JournalEntry } from './owner-journal.ts';
import type { RolloutTarget } from './rollout.ts';

/** What the world must look like before a `wait` action is over. */
export type Expectation =
  | RolloutExpected
  | { readonly type: 'apiservice-available'; readonly names: readonly string[] }
  | CrdsEstablished
  | PoliciesSettled
  | RenamingHeld
  | OperatorExpected
  | EndpointsExpected
  | TimePassed;

/** Nothing is asked of the world but time: the stage then looks at it again. */
export interface TimePassed {
  readonly type: 'time-passed';
  readonly ms: number;
}

/** Every workload is rolled out and ready. */
export interface RolloutExpected {
  readonly type: 'rollout';
  readonly targets: readonly RolloutTarget[];
  /** More failed pods than this end the wait. */
  readonly maxFailed: number;
  /** Workloads with failed pods within that number are left behind, counted over all such waits of a run, instead of holding the chain up. */
  readonly goesOn?: true;
}

/** The server has taken these definitions over: it serves what they define. */
export interface CrdsEstablished {
  readonly type: 'crds-established';
  readonly names: readonly string[];
}

/** No stored policy waits for its new name any more, or the controllers are told to rename none (host endpoint notes 4). */
export interface PoliciesSettled {
  readonly type: 'policies-settled';
  /** Stored kinds of policies. */
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly prefix: string;
  /** Object and field that switch the renaming off; undefined if the cluster has no such kind. */
  readonly hold?: { readonly kind: Kind; readonly name: string; readonly field: string };
}

/** The switch of the renaming says `Disabled`, and the cluster has stored it: a CRD that does not know the field drops it silently. */
export interface RenamingHeld {
  readonly type: 'renaming-held';
  readonly kind: Kind;
  readonly name: string;
  readonly field: string;
}

/** The operator has brought every component to the target, and it has stayed so. */
export interface OperatorExpected {
  readonly type: 'operator-end';
  readonly names: OperatorEndNames;
  readonly target: OperatorTarget;
}

/** Every node has its automatic host endpoint, complete. */
export interface EndpointsExpected {
  readonly type: 'host-endpoints';
  readonly nodes: readonly ExpectedCoverage[];
  readonly signs: AutomaticSigns;
  /** Group of the annotation with the stored labels. */
  readonly apiGroup: string;
  /** Where they are read: the stored resources of the API, or the service's CLI in key-value mode. */
  readonly from: { readonly kind: Kind } | { readonly cli: CliCall };
}

/**
 * The old endpoints of a node may go (§4.7/3): its automatic one stands with these labels and no others, automatic ones are still wanted,
 * and the old ones are the very ones that were judged and kept.
 */
export interface SuccessorExpected {
  readonly type: 'successor';
  readonly node: ExpectedCoverage;
  readonly old: readonly ReadVersion[];
  readonly signs: AutomaticSigns;
  readonly apiGroup: string;
  readonly setting: EndpointSetting;
  readonly from: EndpointSource;
  /** Policies and the like by which the host was judged: all of a kind, in the versions that were read. */
  readonly judgedBy: readonly JudgedBy[];
}

/** All objects of a kind as they were read. */
export interface JudgedBy {
  readonly plural: string;
  /** Undefined where only the service's CLI sees them. */
  readonly kind?: Kind;
  /** `versionsOf` them. */
  readonly versions: string;
}

/** Another text once one of the objects came, went or was written. */
export function versionsOf(objects: readonly { readonly metadata: ObjectMeta }[]): string {
  return objects
    .map(({ metadata: { name, uid = '', resourceVersion = '' } }) => `${name} ${uid} ${resourceVersion}`)
    .toSorted()
    .join('\n');
}

/** Object and field of the controllers' configuration that make automatic endpoints. */
export interface EndpointSetting {
  readonly name: string;
  readonly plural: string;
  readonly field: string;
  /** Variable of the controllers that beats the field: those that run write into the object's status what they were given. */
  readonly overriddenBy?: string;
}

/** Where endpoints and that configuration are read: the stored resources of the API, or the service's CLI in key-value mode. */
export type EndpointSource = { readonly kind: Kind; readonly settings: Kind } | { readonly cli: CliCall };

/** The way back of host endpoints may take its next step: no host may be without an endpoint, or have one without its labels in force. */
export interface WayBackExpected {
  readonly type: 'way-back';
  /** Old endpoints that must stand before automatic ones may go. */
  readonly standing?: readonly string[];
  /** Automatic ones must be switched off before copied labels may go. */
  readonly off?: true;
  readonly setting: EndpointSetting;
  readonly from: EndpointSource;
}

/** An object as it was when it was read. */
export interface ReadVersion {
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** A workload may be restarted: its rollout goes on, and no budget of its pods is spent. */
export interface RestartExpected {
  readonly type: 'restartable';
  readonly workload: ObjectRef;
  /** Names of the disruption budgets of its pods. */
  readonly budgets: readonly string[];
}

/** The service's own CLI as it was found: the file, and the arguments that configure it. */
export interface CliCall {
  readonly program: string;
  readonly args: readonly string[];
  /** In key-value mode: the store that it must reach at every write. */
  readonly store?: StoreExpected;
}

/** One patch of many: the object must still be the one that was read. */
export interface GuardedPatch {
  readonly target: ObjectRef;
  readonly patch: readonly JsonPatchOp[];
  readonly uid: string;
}

export interface PatchAll {
  readonly type: 'patch-all';
  readonly patches: readonly GuardedPatch[];
  readonly what: string;
  /** What is removed must be in this journal, as the cluster has it: the engine refuses every other patch. */
  readonly recordedIn?: 'owner-journal';
  /** Looked at once, right before; where it does not hold nothing is sent and the stage is planned anew. */
  readonly onlyIf?: PoliciesSettled | WayBackExpected;
}

/**
 * What an action does, as data: the plan, the dry run, the journal and the tests all see this one form.
 * Only the engine performs it.
 */
export type Effect =
  /**
   * `program` runs that very file. `onlyIf` is looked at once, right before; where it does not hold nothing runs
   * and the stage is planned anew.
   */
  | {
      readonly type: 'exec';
      readonly run: Invocation;
      readonly program?: string;
      readonly onlyIf?: SuccessorExpected | RestartExpected | WayBackExpected;
      /** The store that the service's CLI must reach in the moment of the write. */
      readonly store?: StoreExpected;
    }
  | {
      readonly type: 'patch';
      readonly target: ObjectRef;
      readonly patch: readonly JsonPatchOp[];
      /** Field manager of the request; kubectl's own unless said. */
      readonly fieldManager?: string;
      readonly precondition: { readonly uid: string; readonly resourceVersion?: string };
    }
  /** Many small patches at once, each guarded by itself; those that no longer fit are left and the stage is planned anew. */
  | PatchAll
  /** Appends to the journal of owner references; durable, and read back, when it is done. */
  | {
      readonly type: 'record-owners';
      readonly entries: readonly JournalEntry[];
      /** Says only what is back. The journal without it is the safe side, so that a server that refuses it (a quota) ends nothing. */
      readonly isNote?: boolean;
    }
  /** Writes the journal of owner references to a file on this machine, then deletes it from the cluster. */
  | { readonly type: 'forget-owners'; readonly file: string }
  /** Deletes this very object: `target` has its uid. */
  | { readonly type: 'delete'; readonly target: ObjectRef }
  /**
   * Pods on every node that pull these images, in which programs say their version at most, deleted again whatever happens; what the nodes said is written to the
   * work folder as `saveAs`, marked with `run`.
   */
  | {
      readonly type: 'probe-images';
      readonly daemonSet: KubeObject;
      readonly images: readonly string[];
      readonly run: string;
      readonly saveAs: string;
      readonly timeoutMs: number;
    }
  | { readonly type: 'write'; readonly file: string; readonly content: string }
  /** Files of a backup, with a checksum list beside them; 0600. */
  | { readonly type: 'backup'; readonly folder: string; readonly files: readonly BackupFile[] }
  | { readonly type: 'wait'; readonly until: Expectation; readonly timeoutMs: number }
  /**
   * Fetched from the artifact source and checked; `replaces` is copied to `keepAs`; then the new file takes its place
   * in one step.
   */
  | {
      readonly type: 'install-cli';
      readonly release: string;
      /** Below the release, or an address of its own. */
      readonly path: string;
      /** Where `path` is, for a person. */
      readonly url: string;
      /** The sum that it has to have; absent if none is known, which a person has accepted (NS-309). */
      readonly sha256?: string;
      readonly to: string;
      readonly replaces?: string;
      readonly keepAs?: string;
    }
  /** The configuration of the service's CLI, where there is none; 0600. */
  | {
      readonly type: 'write-cli-config';
      readonly to: string;
      readonly content: string;
      /** Files beside it from a Secret: path → key of its data. Their values are read when they are written, and never shown. */
      readonly certificates?: { readonly secret: ObjectRef; readonly files: Readonly<Record<string, string>> };
    }
  | { readonly type: 'remove-file'; readonly file: string; readonly keepAs: string }
  /**
   * A step only a person can do: said when its turn comes, and the chain goes on. `awaited`: the stage is not done before
   * the person has done it, which a command of that stage alone says by its exit code.
   */
  | { readonly type: 'ask'; readonly instruction: string; readonly awaited?: true };

export interface BackupFile {
  /** Path below the folder. */
  readonly name: string;
  readonly content: string;
}

/** What survives the action if it has to be taken back. */
export type Undo = 'full' | 'partial' | 'none';

/** A finding, by its check and one thing that it is about (`--accept ID=SUBJECT` names it so). */
export interface Cure {
  readonly check: string;
  /** Absent: the whole finding. */
  readonly subject?: string;
}

export interface Action {
  /** Stable within a stage: `apply/wave-2`. Names the action in the run record and in reports. */
  readonly id: string;
  readonly title: string;
  /** The sentence of the procedure (or of the field notes) that asks for it: `§4.4/2`. */
  readonly ref: string;
  readonly effect: Effect;
  readonly undo: Undo;
  /**
   * Only in a round that was judged, a moment ago, and in which nothing was changed before it: else the stage is surveyed, judged and
   * planned anew first.
   */
  readonly afresh?: boolean;
  /** As `afresh`, where the round was judged longer ago than this, or where the action finds that what it was planned by has changed. */
  readonly judgedWithinMs?: number;
  /** After this action there is no supported way back. */
  readonly pointOfNoReturn?: boolean;
  /** What was there before a removal; written to the run record before the action is performed. Never a Secret's value. */
  readonly keep?: unknown;
  /** What is no longer true once the action is done: such findings are not open any more at the end of the run. */
  readonly cures?: readonly Cure[];
}

/** True if the action changes the cluster or this machine (and not only waits, or writes into the work folder). */
export function changesSomething(action: Action): boolean {
  return !['wait', 'write', 'ask', 'backup'].includes(action.effect.type);
}

/** True if the action only puts files into a folder of this machine: the cluster is as it was, and no time was waited. */
export function onlyWritesFiles({ effect }: Action): boolean {
  return effect.type === 'write' || effect.type === 'backup';
}
