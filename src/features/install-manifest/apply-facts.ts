import type { Evidence, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Edit } from '../../kernel/edit.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { mapAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Variant } from '../../kernel/profile.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { continues, type RunRecord } from '../../kernel/run-record.ts';
import { certificatesOf, endpointsOf, storeSettings, unmountedPaths } from '../../kube/kvstore.ts';
import { CARRIED_PART } from '../../manifest/carried-file.ts';
import { objectsIn } from '../../manifest/manifest.ts';
import { type RoleOfBoth, roleOfBoth } from '../../manifest/roles-of-both.ts';
import { splitWaves, type Wave, withRolesOfBoth } from '../../manifest/waves.ts';
import { readTables, type TablesJudged } from '../going-back/index.ts';
import { readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { type RenamingSwitch, readRenamingSwitch, refuseVainHold } from '../policies/index.ts';
import { type AtZero, readNodes, readRollouts, rolloutTargets } from '../rollout/index.ts';
import { attempt, shapeOf } from '../survey/index.ts';
import { readAdded } from './added.ts';
import { type AgentStep, type HeldAgents, readAgentStep, type Stepped, steppedDocuments } from './agent-step.ts';
import type { ApplyJudged } from './apply-checks.ts';
import type { EditSurvey } from './edits.ts';
import { finishedFile } from './finished.ts';
import { isWorkload, type Target } from './identity.ts';
import type { StoreFacts } from './kvstore-checks.ts';
import { type MergedTarget, readMergedTarget } from './merged.ts';
import type { PreviewedObject } from './outcome.ts';
import { type Orphans, readOrphans } from './own-objects.ts';
import { previewDocument } from './preview.ts';
import { ownFile, targetDocuments } from './target.ts';

export interface ApplyFacts extends ApplyJudged, TablesJudged, MergedTarget {
  readonly target: Target;
  readonly previews: MergedTarget['previews'];
  readonly edits: Reading<EditSurvey>;
  readonly variant: Variant;
  readonly waves: readonly Wave[];
  /** Roles that serve both releases until no older workload is left, and what applying them so will do. */
  readonly roles: readonly RoleOfBoth[];
  readonly rolePreviews: readonly PreviewedObject[];
  readonly rollouts: readonly RolloutProgress[];
  readonly nodes: number;
  /** What of the installed release the target no longer has, CRDs of removed kinds too. */
  readonly orphans: Orphans;
  /** Of these what a rollback removes. */
  readonly added: readonly KubeObject[];
  /** For holding the renaming of policies. */
  readonly renamingSwitch: RenamingSwitch | undefined;
  /** Only while the agents have a strategy of this run, or are to have one. */
  readonly step?: AgentStep;
  /** Others are to follow them. */
  readonly heldAgents?: HeldAgents;
}

export async function readApplyFacts(sources: Sources, context: Context, installation: Installation): Promise<ApplyFacts> {
  refuseVainHold(installation, context);
  const record = await sources.records.load();
  const { variant } = ownFile(context, installation);
  const [merged, nodes, renamingSwitch, owners, tables] = await Promise.all([
    readMergedTarget(sources, context, installation, record),
    readNodes(sources),
    readRenamingSwitch(sources, context, record),
    readOwnersAtDeadline(sources, context, installation),
    readTables(sources, context, installation),
  ]);
  const { target, edits } = merged;
  const stepped = await readAgentStep(sources, context, variant, merged, record);
  const { previews } = stepped;
  const [rollouts, orphans, store] = await Promise.all([
    readRollouts(sources, targetsOf(context, target, variant.id), nodes),
    readOrphans(sources.cluster, context, target.manifest, edits),
    isKeyValue(installation) ? readStoreFacts(sources, context, target) : undefined,
  ]);
  const added = await readAdded(sources, context, installation, orphans);
  const addOns = target.addOns.map((addOn) => addOn.manifest);
  const documents = steppedDocuments(target.manifest.documents, stepped);
  const way = context.goal.takesBack ? 'back' : 'forward';
  const split = splitWaves({ ...target.manifest, documents }, addOns, variant, context.profile, way, holdsAgents(context)).map((wave) =>
    withOwnFile(wave, stepped),
  );
  const roles = split.length > 1 ? rolesOfBoth(previews, context) : [];
  const waves = withRolesOfBoth(split, roles, way);
  const rolePreviews = await Promise.all(roles.map(({ both }) => previewDocument(sources.cluster, both.object)));
  const [emptied, atZero] = [emptiedSecrets(previews), emptyTargets({ rollouts, previews, edits, record }, context)];
  const found = {
    installation,
    record,
    variant,
    waves,
    roles,
    rolePreviews,
    store,
    emptied,
    atZero,
    rollouts,
    orphans,
    added,
    renamingSwitch,
    tables,
  };
  return { ...merged, ...stepped, ...found, nodes: nodes.length, ...owners };
}

/** Controllers and Typha come after all agents then, also where they could come together. */
function holdsAgents({ options: { canary, until } }: Context): boolean {
  return canary !== undefined || until === 'agents';
}

/** `upgrade.yaml` is the target, for the user to keep: what is applied only for a while is no part of it. */
function withOwnFile(wave: Wave, { step }: Stepped): Wave {
  return step?.state === 'on' && wave.id === 'all' ? { ...wave, file: wave.file.replace('.yaml', '-1-all.yaml') } : wave;
}

function rolesOfBoth(previews: readonly PreviewedObject[], { goal, profile: { olderRules = [] } }: Context): readonly RoleOfBoth[] {
  const asked = goal.takesBack ? 'all' : olderRules;
  return previews.flatMap(({ document, live }) => (live && roleOfBoth(document, live, asked)) ?? []);
}

/** Every workload of the target, in the order in which they are rolled. */
export function targetsOf(context: Context, target: Target, variantId: string): readonly RolloutTarget[] {
  const variant = context.profile.variants.find((one) => one.id === variantId);
  if (!variant) return [];
  const addOns = target.addOns.flatMap(({ id, manifest }) => {
    const addOn = context.profile.addOns.find((one) => one.id === id);
    return addOn ? [{ addOn, documents: objectsIn(manifest) }] : [];
  });
  return rolloutTargets(variant, { documents: objectsIn(target.manifest) }, addOns);
}

/** How the agents of the target will reach their key-value store, and whether it answers (§4.5/1). */
export async function readStoreFacts(sources: Sources, { profile }: Context, target: Target): Promise<StoreFacts> {
  const { endpointsKey, tlsKeys, secret, placeholders } = profile.datastore;
  const documents = targetDocuments(target);
  const settings = storeSettings(documents, endpointsKey, tlsKeys);
  const read = secret === undefined ? undefined : await attempt(() => sources.cluster.get(K.Secret, secret, settings?.ref.namespace));
  const held = placeholdersOf(documents, placeholders);
  const onHosts = settings === undefined || secret === undefined ? [] : unmountedPaths(settings.paths, documents, secret);
  const isUsable = settings !== undefined && held.length === 0 && onHosts.length === 0;
  const data = read && 'value' in read ? (mapAt(read.value, 'data') as Readonly<Record<string, string>>) : {};
  const certificates = certificatesOf(settings?.paths ?? [], data);
  const secretKeys = read && ('unread' in read ? read : { value: Object.keys(data).filter((key) => data[key]) });
  const endpoints = isUsable ? endpointsOf(settings.endpoints) : [];
  const health = await Promise.all(endpoints.map((endpoint) => sources.store.ask(endpoint, certificates)));
  return { settings, secretKeys, placeholders: held, onHosts, health };
}

function placeholdersOf(documents: readonly KubeObject[], placeholders: readonly string[]): readonly Evidence[] {
  return documents.flatMap((document) => {
    if (document.kind !== 'ConfigMap') return [];
    return Object.entries(mapAt(document.data)).flatMap(([key, value]) => {
      const found = placeholders.find((one) => typeof value === 'string' && value.includes(one));
      return found === undefined ? [] : [{ text: `${refText(refOf(document))} data.${key}`, object: refOf(document), detail: found }];
    });
  });
}

/** Secrets whose document has less than the cluster: applied by force, or after client-side apply, the rest would be removed. */
export function emptiedSecrets(previews: readonly PreviewedObject[]): readonly ObjectRef[] {
  return previews.flatMap(({ document, live }) => {
    if (document.kind !== 'Secret' || !live) return [];
    const wanted = { ...mapAt(document.data), ...mapAt(document.stringData) };
    const lost = Object.keys(mapAt(live.data)).some((key) => (wanted[key] ?? '') === '');
    return lost ? [refOf(live)] : [];
  });
}

/** What a merged target is, as far as the number of replicas goes. */
interface Merged {
  readonly rollouts: readonly { readonly target: RolloutTarget }[];
  readonly previews: readonly PreviewedObject[];
  readonly edits: Reading<{ readonly edits: readonly Edit[] }>;
  readonly record: RunRecord | undefined;
}

/** Deployments that must run somewhere and that the target, as it will be stored, gives no replica. */
export function emptyTargets({ rollouts, previews, edits, record }: Merged, context: Context): readonly AtZero[] {
  const needed = rollouts.map(({ target }) => target).filter(({ kind, neverEmpty }) => neverEmpty && kind === 'Deployment');
  return needed.flatMap((ref) => {
    const preview = previews.find(({ document }) => isWorkload(document, ref));
    if (!preview || replicasOf(preview.result ?? preview.document) !== 0) return [];
    const known = 'value' in edits ? edits.value.edits : [];
    const edit = known.find((one) => one.ref.kind === ref.kind && one.ref.name === ref.name && one.path === 'spec.replicas');
    // Only from then on the edits are those that were kept, whatever is in the cluster.
    const begun = continues(record, context) && record.kept.some((id) => id.includes(CARRIED_PART));
    return [{ ref, ...placeOf(preview, edit, begun, context) }];
  });
}

function placeOf({ document }: PreviewedObject, edit: Edit | undefined, begun: boolean, context: Context): Pick<AtZero, 'place' | 'from'> {
  const isWritten = replicasOf(document) === 0;
  const finished = finishedFile(context);
  if (isWritten && finished !== undefined) return { place: 'file', from: `replicas 0 in ${finished}` };
  if (isWritten && begun) return { place: 'begun', from: 'replicas 0 among the changes that this run began with' };
  if (edit?.source.kind === 'file') return { place: 'file', from: `replicas 0 in ${context.options.installedManifest ?? 'your manifest'}` };
  const by = edit?.source.manager;
  return { place: 'cluster', from: by === undefined ? IN_CLUSTER : `${IN_CLUSTER} by ${by}` };
}

const IN_CLUSTER = 'scaled to 0 in the cluster';

/** True if the chart's operator gets a replica in any case: helm writes the template's number over the live one. */
export function givesReplica(documents: readonly KubeObject[], { operator }: Installation): boolean {
  const rendered = documents.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === operator?.name);
  return rendered !== undefined && (replicasOf(rendered) ?? 0) > 0;
}

/** The running operator; scaled up on unknown CRDs it would hang, so this is reported before they are written. */
export async function stoppedOperator(cluster: Pick<ClusterReader, 'list'>, { operator }: Installation): Promise<readonly AtZero[]> {
  if (!operator) return [];
  const { namespace } = operator;
  // Listed like the rest of the installation, so that no account needs a further right.
  const live = (await cluster.list(K.Deployment, { namespace })).find(({ metadata }) => metadata.name === operator.name);
  return live && replicasOf(live) === 0 ? [{ ref: operator, place: 'cluster', from: IN_CLUSTER }] : [];
}

const replicasOf = (workload: KubeObject): number | undefined => shapeOf(workload).spec?.replicas;
