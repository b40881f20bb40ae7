import type { TargetJudged } from '../../checks/apply.ts';
import type { Reading } from '../../core/check.ts';
import type { Context } from '../../core/context.ts';
import type { Detection } from '../../core/installation.ts';
import type { Sources } from '../../core/ports.ts';
import type { RunRecord } from '../../core/run-record.ts';
import { emptiedSecrets, readStoreFacts } from '../apply/kvstore-facts.ts';
import { attemptWith } from '../reading.ts';
import { emptyTargets } from '../rollout/at-zero.ts';
import { variantOf } from '../target/target.ts';
import { targetsOf } from '../wait.ts';
import type { FoundTarget } from './target.ts';

/** What `apply` would judge now; undefined where a later stage of this chain does, and on paths without a full manifest. */
export async function readAhead(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
  { merged }: FoundTarget,
  record: Reading<RunRecord | undefined>,
): Promise<Reading<TargetJudged> | undefined> {
  if (context.chain?.later.includes('apply') || merged === undefined) return undefined;
  if ('unread' in detection || detection.value.type !== 'found') return undefined;
  const { installation } = detection.value;
  if (installation.path !== 'manifest' && installation.path !== 'kvstore') return undefined;
  if ('unread' in record) return record;
  const known = record.value;
  return attemptWith(merged, async ({ target, edits, previews, untold }) => {
    const rollouts = targetsOf(context, target, variantOf(context, installation).id).map((one) => ({ target: one }));
    const store = installation.datastore === 'kvstore' ? await readStoreFacts(sources, context, target) : undefined;
    const atZero = emptyTargets({ rollouts, previews, edits, record: known }, context);
    return { installation, record: known, target, edits, previews, untold, store, emptied: emptiedSecrets(previews), atZero };
  });
}
