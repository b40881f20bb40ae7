import type { Invocation } from './argv.ts';
import type { ExpectedCoverage } from './endpoint-coverage.ts';
import type { AutomaticSigns } from './host-endpoint.ts';
import type { JsonPatchOp, Kind, ObjectRef } from './object.ts';
import type { OperatorEndNames, OperatorTarget } from './operator-view.ts';
import type { RolloutTarget } from './rollout.ts';

/** What the world must look like before a `wait` action is over. */
export type Expectation =
  | { readonly type: 'rollout'; readonly targets: readonly RolloutTarget[]; readonly maxFailed: number }
  | { readonly type: 'apiservice-available'; readonly names: readonly string[] }
  | OperatorExpected
  | EndpointsExpected;

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

/** The service's own CLI as it was found: the file, and the arguments that configure it. */
export interface CliCall {
  readonly program: string;
  readonly args: readonly string[];
}

/** One patch of many: the object must still be the one that was read. */
export interface GuardedPatch {
  readonly target: ObjectRef;
  readonly patch: readonly JsonPatchOp[];
  readonly uid: string;
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
  | { readonly type: 'exec'; readonly run: Invocation; readonly program?: string; readonly onlyIf?: EndpointsExpected }
  | {
      readonly type: 'patch';
      readonly target: ObjectRef;
      readonly patch: readonly JsonPatchOp[];
      /** Field manager of the request; kubectl's own unless said. */
      readonly fieldManager?: string;
      readonly precondition: { readonly uid: string; readonly resourceVersion?: string };
    }
  /** Many small patches at once, each guarded by itself; those that no longer fit are left and the stage is planned anew. */
  | { readonly type: 'patch-all'; readonly patches: readonly GuardedPatch[]; readonly what: string }
  /** Deletes this very object: `target` has its uid. */
  | { readonly type: 'delete'; readonly target: ObjectRef }
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
      /** The sum that the source publishes; absent if it publishes none. */
      readonly sha256?: string;
      readonly to: string;
      readonly replaces?: string;
      readonly keepAs?: string;
    }
  | { readonly type: 'remove-file'; readonly file: string; readonly keepAs: string }
  /** A step only a person can do: said when its turn comes, and the chain goes on. */
  | { readonly type: 'ask'; readonly instruction: string };

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
  readonly subject: string;
}

export interface Action {
  /** Stable within a stage: `apply/wave-2`. Names the action in the run record and in reports. */
  readonly id: string;
  readonly title: string;
  /** The sentence of the procedure (or of the field notes) that asks for it: `§4.4/2`. */
  readonly ref: string;
  readonly effect: Effect;
  readonly undo: Undo;
  /** Only in a round in which nothing was changed before it: else the stage is surveyed, judged and planned anew first. */
  readonly afresh?: boolean;
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
