import { counted } from '../../kernel/counted.ts';
import { isRecord } from '../../kernel/json.ts';
import { type KubeObject, type ManagedFieldsEntry, refOf } from '../../kernel/object.ts';
import type { ObjectState, PlannedObject, PlannedRestart } from '../../kernel/plan.ts';
import { joined } from '../../kernel/step.ts';
import { podsAtOnce } from '../../kube/judge-rollout.ts';
import { isHandedOver } from '../../kube/managed-fields.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { canonical } from '../../manifest/alike.ts';
import { changedFields, maskChanges } from '../../manifest/definition-differences.ts';
import { comparable } from '../../manifest/prepare.ts';
import { takenFields } from '../../manifest/taken-fields.ts';
import { isHeld, isMarked, isOfStrategy } from '../canary/index.ts';
import { shapeOf, takersOf } from '../survey/index.ts';

/** What a server-side apply of one document will do, and the states it was found from. */
export interface PreviewedObject {
  readonly document: KubeObject;
  readonly planned: PlannedObject;
  /** The server refuses it because a field cannot be changed. */
  readonly isImmutable?: true;
  /** As it is now; undefined if it is not there. */
  readonly live?: KubeObject;
  /** As it will be stored; undefined if the apply is refused or could not be asked for yet. */
  readonly result?: KubeObject;
  /** The managedFields that hand over what was applied client-side, and what the old release left; undefined if nothing is to be handed over. */
  readonly adopted?: readonly ManagedFieldsEntry[];
  /** Those that hand over only what the old release left in the pod template and others own. */
  readonly adoptedLeftovers?: readonly ManagedFieldsEntry[];
}

/** True if applying changes fields, their owners, or kubectl's note on an object handed over and not yet applied. */
export function isPending({ planned, adopted, live }: PreviewedObject): boolean {
  return planned.change !== 'unchanged' || adopted !== undefined || (live !== undefined && isHandedOver(live));
}

interface Compared extends Required<Pick<PreviewedObject, 'document' | 'live' | 'result'>> {
  /** The dry run's answer, which keeps what only a client-side manager owned. */
  readonly applied: KubeObject;
  readonly note?: string;
}

/** The plan for an object that is there: what will differ, what kubectl's dry run hides, whose fields are taken. */
export function compare({ document, live, applied, result, note }: Compared): PlannedObject {
  const fields = changedFields(comparable(live), comparable(result));
  const unseen = applied === result ? [] : changedFields(comparable(applied), comparable(result));
  const taken = takenFields(live, fields);
  const takers = takersOf(live, taken, fields.length > 0);
  return {
    ref: refOf(live),
    change: fields.length > 0 ? 'update' : 'unchanged',
    fields: maskChanges(document, fields),
    hidden: unseen.filter(({ path, after }) => after === undefined && !(isMarked(document) && isOfStrategy(path))).map(({ path }) => path),
    taken,
    ...(takers.length > 0 ? { takers } : {}),
    ...(note === undefined ? {} : { note }),
  };
}

/** The plan for an object that is not there. */
export function created(document: KubeObject, note?: string): PreviewedObject {
  const planned: PlannedObject = { ref: refOf(document), change: 'create', fields: [], hidden: [], taken: [] };
  return { document, planned: note === undefined ? planned : { ...planned, note } };
}

/** The server has no code for it: its words alone say so. */
const IMMUTABLE = /immutable/i;

/** The plan for a document that the server does not accept, with the `words` of its answer. */
export function refused(known: Omit<PreviewedObject, 'planned'>, note: string, words = ''): PreviewedObject {
  const why = IMMUTABLE.test(words) ? ({ isImmutable: true } as const) : {};
  return {
    ...known,
    ...why,
    planned: { ref: refOf(known.live ?? known.document), change: 'refused', fields: [], hidden: [], taken: [], note },
  };
}

const REDEFINED = 'its definition changes with it: which defaults the new one adds cannot be predicted exactly';

/** The same for an object whose kind the manifest defines again: it was asked about under the old definition. */
export function redefined(preview: PreviewedObject): PreviewedObject {
  const { planned } = preview;
  const note = planned.note === undefined ? REDEFINED : joined([planned.note, REDEFINED], '; ');
  return { ...preview, planned: { ...planned, note } };
}

/** What a saved plan knows the object by: how it is, and how it will be stored. */
export function stateOf({ live, result }: Pick<PreviewedObject, 'live' | 'result'>): ObjectState {
  const before = live && (checksum(live) ?? `resourceVersion ${live.metadata.resourceVersion ?? ''}`);
  const after = result && checksum(result);
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function checksum(object: KubeObject): string | undefined {
  const text = contentText(object);
  return text === undefined ? undefined : `sha256:${sha256Of(text)}`;
}

/**
 * What users and tools want an object to be, as text that is equal for equal meaning; undefined for a Secret, as not even a checksum may
 * leak. It leaves out status, fields that servers and controllers write, autoscaled replicas, aggregated rules, and owner references, which
 * the upgrade removes and restores itself.
 */
export function contentText(object: KubeObject): string | undefined {
  if (object.kind === 'Secret') return undefined;
  const { metadata, ...rest } = comparable(object);
  const { ownerReferences: _, ...told } = metadata;
  const { rules, ...scaled } = withoutScaled({ ...rest, metadata: told }, object);
  return canonical(scaled.aggregationRule === undefined && rules !== undefined ? { ...scaled, rules } : scaled);
}

/** Whoever scales does it through the subresource, and again tomorrow. */
function withoutScaled(content: Readonly<Record<string, unknown>>, { metadata }: KubeObject): Readonly<Record<string, unknown>> {
  const isScaled = metadata.managedFields?.some(
    ({ subresource, fieldsV1 }) => subresource === 'scale' && fieldsV1?.['f:spec']?.['f:replicas'] !== undefined,
  );
  if (!isScaled || !isRecord(content.spec)) return content;
  const { replicas: _, ...spec } = content.spec;
  return { ...content, spec };
}

/** The restart of all pods that a workload is to have now; undefined for none, and for what is no workload. */
export function restartOf(workload: KubeObject): PlannedRestart | undefined {
  const pods = podsOf(workload);
  return pods > 0 ? { ref: refOf(workload), pods, ...pace(workload, pods) } : undefined;
}

function podsOf(workload: KubeObject): number {
  const { spec, status } = shapeOf(workload);
  const isReplicated = workload.kind === 'Deployment' || workload.kind === 'StatefulSet';
  return isReplicated ? (spec?.replicas ?? 1) : workload.kind === 'DaemonSet' ? (status?.desiredNumberScheduled ?? 0) : 0;
}

/** The same, with how many pods a changed pod template restarts; `before` is the object as it is, `after` as it will be. */
export function withRestarts(planned: PlannedObject, before: KubeObject | undefined, after: KubeObject | undefined): PlannedObject {
  const pods = before && changesPods(planned) ? podsOf(before) : 0;
  if (pods === 0) return planned;
  // A canary is taken back: all other pods may have had this template throughout.
  const some = before && isHeld(before) ? ' at most, none that has this template already' : '';
  const note = `restarts ${counted(pods, 'pod')}${some}${delayOf(after)}`;
  return { ...planned, restarts: pods, ...pace(after, pods), note: planned.note === undefined ? note : joined([note, planned.note], '; ') };
}

function pace(workload: KubeObject | undefined, pods: number): { readonly atOnce?: number } {
  const atOnce = workload && podsAtOnce(workload, pods);
  return atOnce === undefined ? {} : { atOnce };
}

export function changesPods({ fields }: PlannedObject): boolean {
  return fields.some(({ path }) => path.startsWith('spec.template.'));
}

/** Who holds the restart back; empty where the controller begins at once. */
function delayOf(after: KubeObject | undefined): string {
  const spec = after && shapeOf(after).spec;
  if (spec?.updateStrategy?.type === 'OnDelete') return ', each only when it is deleted (updateStrategy OnDelete)';
  return spec?.paused ? ', once its paused rollout is resumed' : '';
}
