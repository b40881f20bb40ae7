import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Detection } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import type { TargetJudged } from '../install-manifest/index.ts';
import { emptiedSecrets, emptyTargets, readStoreFacts, targetsOf, variantOf } from '../install-manifest/index.ts';
import { attemptWith } from '../survey/index.ts';
import type { FoundTarget } from './target.ts';

/** What `apply` would evaluate now; undefined where a later stage of this chain does, and on paths without a full manifest. */
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
