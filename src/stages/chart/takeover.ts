import type { StoredRelease, Takeover } from '../../checks/chart-facts.ts';
import type { Action } from '../../core/action.ts';
import type { Context } from '../../core/context.ts';
import { type KubeObject, refText } from '../../core/object.ts';
import { continues, type RunRecord } from '../../core/run-record.ts';
import { hasApplied } from '../../core/run-record-steps.ts';

interface Around {
  readonly run: RunRecord | undefined;
  /** What a move has left of the release. */
  readonly oldRecords: readonly KubeObject[];
  readonly now: Date;
}

/**
 * A pending revision that this very run left: its record says that it was at work on the release, and helm's own that it was begun since, to
 * the target. An install is one only in a move, where the old record still has everything.
 */
export function takeoverOf({ record, ref }: StoredRelease, { run, oldRecords, now }: Around, context: Context): Takeover | undefined {
  const isLeft = record.status === 'pending-upgrade' || (record.status === 'pending-install' && oldRecords.length > 0);
  if (!isLeft || !continues(run, context) || !hasApplied(run) || record.chart.version !== context.options.release) return undefined;
  if (record.changedAt === undefined || record.changedAt < Date.parse(run.startedAt)) return undefined;
  return { ref, quietMs: now.getTime() - record.changedAt };
}

/** The mark of the unfinished revision; helm goes on from the one before it. */
export function takeoverAction({ ref }: Takeover): Action {
  return {
    id: 'takeover',
    title: `delete ${refText(ref)}, the mark of the upgrade that was interrupted`,
    ref: 'domain §2.2',
    undo: 'none',
    afresh: true,
    effect: { type: 'delete', target: ref },
    keep: { kind: ref.kind, namespace: ref.namespace, name: ref.name },
  };
}
