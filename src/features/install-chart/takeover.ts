import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import { continues, type RunRecord } from '../../kernel/run-record.ts';
import { hasApplied } from '../../kernel/run-record-steps.ts';
import type { StoredRelease, Takeover } from './chart-facts.ts';

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

/** The mark of the unfinished revision; helm continues from the one before it. */
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
