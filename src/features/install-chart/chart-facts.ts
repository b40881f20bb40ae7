import type { Action, GuardedPatch } from '../../kernel/action.ts';
import type { Check, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { HelmStorage } from '../../kernel/installation.ts';
import { type KubeObject, type ObjectRef, refText } from '../../kernel/object.ts';
import type { FieldChange } from '../../kernel/plan.ts';
import { continues, type RunRecord } from '../../kernel/run-record.ts';
import type { CrdFacts } from '../install-manifest/index.ts';
import type { ReplicasJudged } from '../rollout/index.ts';
import { hasApplied, type SourceJudged } from '../survey/index.ts';
import type { HelmUpgrade, HelmVersion } from './helm-argv.ts';
import type { HelmRecord } from './helm-record.ts';
import type { Pin } from './helm-values.ts';

export interface ChartFacts extends ChartJudged {
  /** Undefined where the operator applies them itself. */
  readonly crds: CrdFacts | undefined;
  /** Undefined while something that it needs could not be read. */
  readonly upgrade: HelmUpgrade | undefined;
  /** Annotations that the move of the release begins with. */
  readonly adoption: readonly GuardedPatch[];
}

/** The newest revision of the operator's chart release, and the object that it is stored in. */
export interface StoredRelease {
  readonly record: HelmRecord;
  /**
   * The revision that an upgrade continues from: the newest that is deployed, and where none is, the newest of all (`prepareUpgrade` of
   * helm 3 and 4). Its values are kept; what it holds and the new one does not is deleted.
   */
  readonly base: HelmRecord;
  readonly storage: HelmStorage;
  readonly object: string;
  /** The same object. */
  readonly ref: ObjectRef;
  /** Of all objects that the release is stored in. */
  readonly uids: readonly string[];
}

/** A pending revision that the run left which continues now. */
export interface Takeover {
  readonly ref: ObjectRef;
  /** Since when nothing was written to it, in milliseconds. */
  readonly quietMs: number;
}

/** What the chart of the target says of itself. */
export interface TargetChart {
  readonly name: string;
  readonly version: string;
  /** Where it was read, for the user. */
  readonly place: string;
  /** Of the packed chart; absent for a folder. */
  readonly sha256?: string;
  /** From elsewhere, and nobody said which sum it has to have: it is rendered without the cluster only. */
  readonly unconfirmed?: true;
  /** The words that name it to the chart tool. */
  readonly named: readonly string[];
}

/** Somebody else's decision that the chart tool would undo, or stop at. */
export interface FieldConflict {
  readonly ref: ObjectRef;
  /** From what it is to what the chart makes of it; an empty path for an object that is gone and would come back. */
  readonly change: FieldChange;
  /** Who has set the field; absent for what was removed, of which the server keeps no owner. */
  readonly manager?: string;
}

/** What the server said of the rendered upgrade; `untold` while the new CRDs are not there, without which it cannot say. */
export type Trial =
  | { readonly type: 'accepted'; readonly documents: readonly KubeObject[] }
  | { readonly type: 'refused'; readonly because: string }
  | { readonly type: 'untold'; readonly because: string };

/** A release that is in another namespace than its operator. */
export interface Misplaced {
  /** Namespace of the operator. */
  readonly to: string;
  /** The stored release holds the operator's Deployment. */
  readonly holdsOperator: boolean;
}

export type ChartCheck = Check<ChartJudged>;

/** What the checks of a chart upgrade look at (§4.2). */
export interface ChartJudged extends SourceJudged, ReplicasJudged {
  readonly stored: Reading<StoredRelease>;
  readonly helm: Reading<HelmVersion>;
  readonly target: Reading<TargetChart>;
  /** The release is at the target already, with the values that are wanted. */
  readonly upgraded: boolean;
  readonly pins: readonly Pin[];
  /** Whether the operator, as installed and as in the target's chart, can apply CRDs by itself. */
  readonly managesCrds: { readonly installed: boolean; readonly target: boolean };
  /** CRDs that the release holds as ordinary objects and the target's chart does not, live, without the mark that keeps them. */
  readonly lostCrds: readonly string[];
  /** Namespaces and other objects with data that the upgrade would delete: live, and without the mark that keeps them. */
  readonly lostData: Reading<readonly ObjectRef[]>;
  readonly takeover: Takeover | undefined;
  /** Set where the release is in another namespace than its operator. */
  readonly misplaced: Misplaced | undefined;
  /** What the release is stored in besides, in a namespace that it was moved from: metadata only. */
  readonly oldRecords: readonly KubeObject[];
  /** CRDs of the service that belong to another chart release. */
  readonly foreignCrds: readonly { readonly name: string; readonly owner: string }[];
  /** The CSI driver runs and the values do not ask for it in the place where the target looks. */
  readonly losesCsi: boolean;
  /** Values of the user that the installed chart names among its own and the target's no longer does: `a.b`. */
  readonly forgottenValues: readonly string[];
  readonly trial: Reading<Trial>;
  /** Undefined while the server has not accepted the upgrade. */
  readonly conflicts: Reading<readonly FieldConflict[]> | undefined;
}

/**
 * A pending revision left by this very run: its record was at work on it, and helm's began since, to the target. An install counts only in
 * a move (`moves`), where the old record still has everything. In a rollback a failed one counts too: helm would continue from it, as if what it
 * was to delete were gone already.
 */
export function takeoverOf(
  { record, ref }: StoredRelease,
  run: RunRecord | undefined,
  moves: boolean,
  now: Date,
  context: Context,
): Takeover | undefined {
  const isBack = context.goal.takesBack !== undefined && ['pending-rollback', 'failed'].includes(record.status);
  const isLeft = isBack || record.status === 'pending-upgrade' || (record.status === 'pending-install' && moves);
  if (!isLeft || !continues(run, context) || !hasApplied(run) || record.chart.version !== context.goal.release) return undefined;
  if (record.changedAt === undefined || record.changedAt < Date.parse(run.startedAt)) return undefined;
  return { ref, quietMs: now.getTime() - record.changedAt };
}

/** The mark of the unfinished revision; helm continues from the one before it. */
export function takeoverAction({ ref }: Takeover): Action {
  return {
    id: 'takeover',
    title: `delete ${refText(ref)}, the mark of what was interrupted`,
    ref: 'domain §2.2',
    undo: 'none',
    afresh: true,
    effect: { type: 'delete', target: ref },
    keep: { changes: [{ ref, before: {}, after: {} }] },
  };
}
