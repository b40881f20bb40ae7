import type { NotRead, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Detection, InstallPath } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import {
  emptiedSecrets,
  emptyTargets,
  type MergedTarget,
  type PreviewedObject,
  previewDocuments,
  readCrdManifest,
  readMergedTarget,
  readStoreFacts,
  readTarget,
  type TargetJudged,
  targetDocuments,
  targetsOf,
  variantOf,
} from '../install-manifest/index.ts';
import { attempt, attemptWith, hasFullManifest, installationIn, type TargetFacts, unknownEnd } from '../survey/index.ts';
import { dryRunLeftOut } from './reading-only.ts';

/** The target as it will be applied, edits and all, and what the server says to it. */
export interface FoundTarget {
  readonly facts: Reading<TargetFacts>;
  readonly previews: Reading<readonly PreviewedObject[]>;
  /** Undefined on the operator's paths. */
  readonly merged?: Reading<MergedTarget>;
}

const without = (reason: NotRead): FoundTarget => ({ facts: reason, previews: reason });

/** The target for what is installed; without an installation there is none. */
export async function readTargetFor(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
  record: Reading<RunRecord | undefined>,
): Promise<FoundTarget> {
  if ('unread' in detection) return without(detection);
  if (detection.value.type !== 'found') return without({ unread: 'no installation was recognised, so its target is not known' });
  const { installation } = detection.value;
  const refused = unknownEnd(installation, context);
  if (refused) return without({ unread: refused.message, hint: `${refused.suggestions[0]}.` });
  const crds = ['chart', 'operator'].includes(installation.path) ? await readCrds(sources, context, installation.path) : undefined;
  if (installation.path === 'chart' && crds) return crds;
  const known = 'value' in record ? record.value : undefined;
  const merged = await attempt(async () => {
    if (context.options.readOnly) throw dryRunLeftOut();
    return readMergedTarget(sources, context, installation, known);
  });
  // An account that cannot read everything still learns what to ask for, by the documents as released.
  const target = 'value' in merged ? { value: merged.value.target } : await attempt(() => readTarget(sources, context, installation));
  const facts = await attemptWith(target, async (one) => ({ release: one.release, url: one.url, documents: targetDocuments(one) }));
  const previews = await attemptWith(merged, async (one) => one.previews);
  return crds
    ? {
        facts: joined(facts, crds.facts, (one, other) => ({ ...one, documents: [...one.documents, ...other.documents] })),
        previews: joined(previews, crds.previews, (one, other) => [...one, ...other]),
      }
    : { facts, previews, merged };
}

/** The CRDs' own file is all that can be evaluated before the chart is rendered; `apply` evaluates the rest. */
async function readCrds(sources: Sources, context: Context, path: InstallPath): Promise<FoundTarget> {
  const read = await attempt(() => readCrdManifest(sources, context, path));
  return {
    facts: await attemptWith(read, async ({ url, manifest }) => {
      return { release: context.goal.release, url, documents: manifest.documents.map(({ object }) => object) };
    }),
    previews: await attemptWith(read, ({ manifest }) => previewDocuments(sources.cluster, manifest)),
  };
}

function joined<T>(a: Reading<T>, b: Reading<T>, join: (a: T, b: T) => T): Reading<T> {
  if ('unread' in a) return a;
  return 'unread' in b ? b : { value: join(a.value, b.value) };
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
    const rollouts = targetsOf(context, target, variantOf(context, installation).id).map((one) => ({ target: one }));
    const store = installation.datastore === 'kvstore' ? await readStoreFacts(sources, context, target) : undefined;
    const atZero = emptyTargets({ rollouts, previews, edits, record: known }, context);
    return { installation, record: known, target, edits, previews, untold, store, emptied: emptiedSecrets(previews), atZero };
  });
}
