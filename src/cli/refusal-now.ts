import { Fault } from '../kernel/fault.ts';
import { ApiFailure } from '../kernel/ports.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { readRecord } from './compose.ts';
import { goalBack, type Stored } from './rollback-goal.ts';

/** Why `rollback` of this unfinished upgrade would refuse now, asked as it asks; undefined where it would not, or that cannot be asked. */
export async function refusalNow(records: Stored, { clusterUid, profile, intent }: RunRecord): Promise<string | undefined> {
  if (intent.takesBack) return undefined;
  // A login that ran out, or an API server that is away, refuses no rollback.
  const loaded = await records.load().catch(() => 'unread' as const);
  if (loaded === 'unread') return undefined;
  const stored: Stored = {
    load: async () => loaded,
    kept: (...asked) => records.kept(...asked),
    keptWith: (...asked) => records.keptWith(...asked),
  };
  try {
    await goalBack(stored, { clusterUid, profile: { name: profile }, readRecord });
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.code === 'interrupted' ? undefined : thrown.message;
    if (!(thrown instanceof ApiFailure)) throw thrown;
  }
  return undefined;
}
