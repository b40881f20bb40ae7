import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { type Detection, hasFullManifest, isKeyValue } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { pathOf } from '../install/index.ts';
import {
  emptiedSecrets,
  emptyTargets,
  type FoundTarget,
  ownFile,
  readMergedTarget,
  readStoreFacts,
  type TargetJudged,
  targetsOf,
  withoutTarget,
} from '../install-manifest/index.ts';
import { attemptWith, installationIn, unknownEnd } from '../survey/index.ts';
import { dryRunLeftOut } from './reading-only.ts';
import { withSumsToCompare } from './unknown-sums.ts';

/** The target for what is installed; without an installation there is none. */
export async function readTargetFor(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
  record: Reading<RunRecord | undefined>,
): Promise<FoundTarget> {
  const found = await readFor(sources, context, detection, record);
  const installation = installationIn(detection);
  if (!installation || 'value' in found.facts || unknownEnd(installation, context)) return found;
  return { ...found, facts: await withSumsToCompare(found.facts, sources, context, installation) };
}

async function readFor(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
  record: Reading<RunRecord | undefined>,
): Promise<FoundTarget> {
  if ('unread' in detection) return withoutTarget(detection);
  if (detection.value.type !== 'found') return withoutTarget({ unread: 'no installation was recognised, so its target is not known' });
  const { installation } = detection.value;
  const refused = unknownEnd(installation, context);
  if (refused) return withoutTarget({ unread: refused.message, hint: `${refused.suggestions[0]}.` });
  return pathOf(installation).judgedTarget(sources, context, installation, async () => {
    if (context.options.readOnly) throw dryRunLeftOut();
    return readMergedTarget(sources, context, installation, 'value' in record ? record.value : undefined);
  });
}

/** What `apply` would evaluate now; undefined where a later stage of this chain does, and on paths without a full manifest. */
export async function readAhead(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
  { merged }: FoundTarget,
  record: Reading<RunRecord | undefined>,
): Promise<Reading<TargetJudged> | undefined> {
  if (context.chain?.later.includes('apply') || merged === undefined) return undefined;
  const installation = installationIn(detection);
  if (!installation || !hasFullManifest(installation)) return undefined;
  if ('unread' in record) return record;
  const known = record.value;
  return attemptWith(merged, async ({ target, edits, previews, untold }) => {
    const rollouts = targetsOf(context, target, ownFile(context, installation).variant.id).map((one) => ({ target: one }));
    const store = isKeyValue(installation) ? await readStoreFacts(sources, context, target) : undefined;
    const atZero = emptyTargets({ rollouts, previews, edits, record: known }, context);
    return { installation, record: known, target, edits, previews, untold, store, emptied: emptiedSecrets(previews), atZero };
  });
}
