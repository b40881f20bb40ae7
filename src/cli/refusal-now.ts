import type { Goal } from '../kernel/context.ts';
import { Fault } from '../kernel/fault.ts';
import { isByChart } from '../kernel/installation.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { type RunRecord, UNKNOWN_PATH } from '../kernel/run-record.ts';
import { shippedProfiles } from '../profiles/index.ts';
import { readRecord } from './compose.ts';
import { goalBack, type Stored } from './rollback-goal.ts';
import type { Session } from './session.ts';

/** Why `rollback` of this unfinished upgrade would refuse now, asked as it asks; undefined where it would not, or that cannot be asked. */
export async function refusalNow(
  records: Stored,
  record: RunRecord,
  former: (goal: Goal) => Promise<string | undefined> = async () => undefined,
): Promise<string | undefined> {
  const { clusterUid, profile, intent, path } = record;
  if (intent.takesBack) return undefined;
  // A login that ran out, or an API server that is away, refuses no rollback.
  const loaded = await records.load().catch(() => 'unread' as const);
  if (loaded === 'unread') return undefined;
  const stored: Stored = {
    load: async () => loaded,
    kept: (...asked) => records.kept(...asked),
    keptWith: (...asked) => records.keptWith(...asked),
  };
  const failed = (thrown: unknown): Fault | undefined => {
    if (thrown instanceof Fault) return thrown;
    if (!(thrown instanceof ApiFailure)) throw thrown;
    return undefined;
  };
  const goal = await goalBack(stored, { clusterUid, profile: { name: profile }, readRecord }).catch(failed);
  if (goal instanceof Fault) return goal.code === 'interrupted' ? undefined : goal.message;
  if (!goal || path === UNKNOWN_PATH || !isByChart({ path })) return undefined;
  return former(goal).catch((thrown: unknown) => {
    failed(thrown);
    return undefined;
  });
}

/** What the chart tool keeps of the release before, asked of the cluster as it is. */
export function formerIn(
  { composition, context, seams }: Pick<Session, 'composition' | 'context' | 'seams'>,
  { profile: name }: RunRecord,
) {
  return async (goal: Goal): Promise<string | undefined> => {
    const profile = shippedProfiles.find((one) => one.name === name) ?? context.profile;
    const installation = await seams.installed({ ...composition, context: { ...context, profile } });
    return installation && (await import('../features/install-chart/index.ts')).whyNoFormer(composition.cluster, installation, { goal });
  };
}
