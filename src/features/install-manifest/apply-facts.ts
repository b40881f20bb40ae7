import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import type { TakenChange } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Variant } from '../../kernel/profile.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { splitWaves, type Wave } from '../../manifest/waves.ts';
import type { OwnersJudged } from '../ownerrefs/index.ts';
import { readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { type RenamingSwitch, readRenamingSwitch } from '../policies/index.ts';
import type { ReplicasJudged } from '../rollout/index.ts';
import { readNodes, readRollouts } from '../rollout/index.ts';
import { emptyTargets } from './at-zero.ts';
import type { EditSurvey } from './edits.ts';
import type { StoreFacts } from './kvstore-checks.ts';
import { emptiedSecrets, readStoreFacts } from './kvstore-facts.ts';
import { readMergedTarget } from './merged.ts';
import { type Orphans, readOrphans } from './orphans.ts';
import type { PreviewedObject } from './outcome.ts';
import { targetsOf } from './rollout-targets.ts';
import { variantOf } from './target.ts';
import type { Target } from './target-file.ts';

export interface ApplyFacts extends OwnersJudged, ReplicasJudged {
  readonly installation: Installation;
  readonly variant: Variant;
  readonly target: Target;
  readonly waves: readonly Wave[];
  /** One per document of the target, in its order. */
  readonly previews: readonly PreviewedObject[];
  readonly edits: Reading<EditSurvey>;
  /** Fields of others that would be written over, of objects whose changes in the cluster cannot be told. */
  readonly untold: readonly TakenChange[];
  readonly store: StoreFacts | undefined;
  /** Secrets of the target that would take values away. */
  readonly emptied: readonly ObjectRef[];
  readonly record: RunRecord | undefined;
  readonly rollouts: readonly RolloutProgress[];
  readonly nodes: number;
  /** What of the installed release the target no longer has, CRDs of removed kinds too. */
  readonly orphans: Orphans;
  /** For holding the renaming of policies. */
  readonly renamingSwitch: RenamingSwitch | undefined;
}

export async function readApplyFacts(sources: Sources, context: Context, installation: Installation): Promise<ApplyFacts> {
  const record = await sources.records.load();
  const { target, edits, previews, untold } = await readMergedTarget(sources, context, installation, record);
  const variant = variantOf(context, installation);
  const nodes = await readNodes(sources);
  const [rollouts, orphans, renamingSwitch, store, owners] = await Promise.all([
    readRollouts(sources, targetsOf(context, target, variant.id), nodes),
    readOrphans(sources.cluster, context.profile, target.manifest, edits),
    readRenamingSwitch(sources, context),
    installation.datastore === 'kvstore' ? readStoreFacts(sources, context, target) : undefined,
    readOwnersAtDeadline(sources, context, installation),
  ]);
  const addOns = target.addOns.map((addOn) => addOn.manifest);
  const waves = splitWaves(target.manifest, addOns, variant, context.profile);
  const emptied = emptiedSecrets(previews);
  const merged = { installation, variant, target, waves, previews, edits, untold, store, emptied };
  const atZero = emptyTargets({ rollouts, previews, edits, record }, context);
  return { ...merged, atZero, record, rollouts, nodes: nodes.length, orphans, renamingSwitch, ...owners };
}
