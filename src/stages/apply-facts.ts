import type { Reading } from '../core/check.ts';
import type { Context } from '../core/context.ts';
import type { Installation } from '../core/installation.ts';
import { K } from '../core/kinds.ts';
import { type KubeObject, objectKey } from '../core/object.ts';
import type { Sources } from '../core/ports.ts';
import type { Variant } from '../core/profile.ts';
import type { RolloutProgress } from '../core/rollout.ts';
import { continues, type RunRecord } from '../core/run-record.ts';
import { splitWaves, type Wave } from '../merge/waves.ts';
import { NoBase } from './base.ts';
import { type EditSurvey, readEdits } from './edits.ts';
import { type PreviewedObject, previewDocuments } from './preview.ts';
import { readNodes, readRollouts } from './rollout-state.ts';
import { readTarget, type Target, UPGRADE_FILE, variantOf } from './target.ts';
import { targetsOf } from './wait.ts';

export interface ApplyFacts {
  readonly installation: Installation;
  readonly variant: Variant;
  readonly target: Target;
  readonly waves: readonly Wave[];
  /** One per document of the target, in its order. */
  readonly previews: readonly PreviewedObject[];
  readonly edits: Reading<EditSurvey>;
  readonly record: RunRecord | undefined;
  readonly rollouts: readonly RolloutProgress[];
  readonly nodes: number;
  /** Live objects of the installed release, and CRDs of removed kinds, that the target no longer has. */
  readonly leftBehind: readonly KubeObject[];
  /** The controllers' configuration, for holding the renaming of policies. */
  readonly controllersConfiguration?: KubeObject;
}

export async function readApplyFacts(sources: Sources, context: Context, installation: Installation): Promise<ApplyFacts> {
  const record = await sources.records.load();
  const target = await readTarget(sources, context, installation);
  const variant = variantOf(context, installation);
  const addOns = target.addOns.map((addOn) => addOn.manifest);
  const previews: PreviewedObject[] = [];
  for (const manifest of [target.manifest, ...addOns]) previews.push(...(await previewDocuments(sources.cluster, manifest)));
  const nodes = await readNodes(sources);
  const [edits, rollouts, removedCrds, controllersConfiguration] = await Promise.all([
    readEditsUnlessBegun(sources, context, installation, previews, record, target),
    readRollouts(sources, targetsOf(context, target, variant.id), nodes),
    readRemovedCrds(sources, context, target),
    readControllersConfiguration(sources, context),
  ]);
  const orphans = 'value' in edits ? edits.value.orphans : [];
  const leftBehind = [...new Map([...removedCrds, ...orphans].map((one) => [objectKey(one), one])).values()];
  const waves = splitWaves(target.manifest, addOns, variant, context.profile);
  const facts = { installation, variant, target, waves, previews, edits, record, rollouts, nodes: nodes.length, leftBehind };
  return controllersConfiguration ? { ...facts, controllersConfiguration } : facts;
}

/** Once writing has begun, live objects and last-applied no longer tell edits: they were judged before the first write. */
export async function readEditsUnlessBegun(
  sources: Sources,
  context: Context,
  installation: Installation,
  previews: readonly PreviewedObject[],
  record: RunRecord | undefined,
  target: Target,
): Promise<Reading<EditSurvey>> {
  const nothingChanges = previews.every(({ planned }) => planned.change === 'unchanged' || planned.change === 'create');
  const isOwnFile = context.options.upgradeFile !== undefined;
  if (nothingChanges || isOwnFile || hasBegun(record, context, target))
    return { value: { edits: [], base: context.options.release, orphans: [] } };
  try {
    return { value: await readEdits(sources, context, installation, previews) };
  } catch (thrown) {
    if (thrown instanceof NoBase) return { unread: thrown.message };
    throw thrown;
  }
}

/** This run, or one that it continues, has judged the edits against this very file and gone on to write. */
export function hasBegun(record: RunRecord | undefined, context: Context, { sha256 }: Pick<Target, 'sha256'>): boolean {
  return continues(record, context) && record.digests[UPGRADE_FILE] === sha256;
}

async function readRemovedCrds({ cluster }: Sources, { profile }: Context, target: Target): Promise<readonly KubeObject[]> {
  const kept = new Set(target.manifest.documents.map(({ object }) => object.metadata.name));
  const names = profile.removedKinds.map(({ plural, group }) => `${plural}.${group}`).filter((name) => !kept.has(name));
  const found = await Promise.all(names.map((name) => cluster.get(K.CustomResourceDefinition, name)));
  return found.filter((one) => one !== undefined);
}

async function readControllersConfiguration({ cluster }: Sources, { profile }: Context): Promise<KubeObject | undefined> {
  const { plural, kind, name } = profile.controllersConfiguration;
  const resource = await cluster.resolve(`${profile.crdGroup}/v1`, kind);
  return resource?.plural === plural ? cluster.get(resource, name) : undefined;
}
