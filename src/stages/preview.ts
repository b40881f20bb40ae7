import { Fault } from '../core/fault.ts';
import { groupOf, type Kind, type KubeObject, type ManagedFieldsEntry, refOf, refText } from '../core/object.ts';
import type { FieldChange, PlannedObject } from '../core/plan.ts';
import { ApiFailure, type ClusterReader } from '../core/ports.ts';
import { changedFields } from '../merge/fields.ts';
import { isRecord } from '../merge/json.ts';
import { diffPatch } from '../merge/json-patch.ts';
import { adoptedOwnership, KUBECTL, predictApply } from '../merge/managed-fields.ts';
import type { Manifest } from '../merge/manifest.ts';
import { comparable } from '../merge/normalise.ts';
import { maskChanges } from '../merge/secrets.ts';
import { takenFields } from '../merge/taken-fields.ts';
import { eachOf } from './reading.ts';

/** What a server-side apply of one document will do, and the states it was found from. */
export interface PreviewedObject {
  readonly document: KubeObject;
  readonly planned: PlannedObject;
  /** As it is now; undefined if it is not there. */
  readonly live?: KubeObject;
  /** As it will be stored; undefined if the apply is refused or could not be asked for yet. */
  readonly result?: KubeObject;
  /** The managedFields that hand a client-side applied object over to server-side apply; undefined if nothing is to be handed over. */
  readonly adopted?: readonly ManagedFieldsEntry[];
}

/** Requests under way at a time. */
const WIDTH = 6;
/** Controllers may write between two reads of one object. */
const ATTEMPTS = 6;

/** The plan's view of every document, in the manifest's order. Nothing is written. */
export async function previewManifest(cluster: ClusterReader, manifest: Manifest): Promise<readonly PlannedObject[]> {
  return (await previewDocuments(cluster, manifest)).map(({ planned }) => planned);
}

export async function previewDocuments(cluster: ClusterReader, manifest: Manifest): Promise<readonly PreviewedObject[]> {
  const documents = manifest.documents.map(({ object }) => object);
  return eachOf(documents, WIDTH, (document) => previewDocument(cluster, document, documents));
}

/**
 * Predicts `kubectl apply --server-side --force-conflicts` of one document by dry runs. `together` are the documents that
 * are applied with it: a kind that one of them defines need not be served yet. Throws ApiFailure only if the server gives no
 * answer about the document.
 */
export async function previewDocument(
  cluster: ClusterReader,
  document: KubeObject,
  together: readonly KubeObject[] = [],
): Promise<PreviewedObject> {
  const kind = await cluster.resolve(document.apiVersion, document.kind);
  if (kind) return previewKnown(cluster, kind, document);
  if (together.some((one) => definesKind(one, document))) return created(document, 'its kind is defined by the same manifest');
  return refused({ document }, `the server has no kind ${document.kind} in ${document.apiVersion}`);
}

async function previewKnown(cluster: ClusterReader, kind: Kind, document: KubeObject): Promise<PreviewedObject> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const preview = await previewOnce(cluster, kind, document);
    if (preview) return preview;
  }
  throw new Fault('failed', `${refText(refOf(document))} changed during each of ${ATTEMPTS} attempts to preview it`, [
    'Find out which controller keeps writing to it, then run the command again.',
  ]);
}

/** Undefined if the object changed between the requests. */
async function previewOnce(cluster: ClusterReader, kind: Kind, document: KubeObject): Promise<PreviewedObject | undefined> {
  const live = await cluster.get(kind, document.metadata.name, document.metadata.namespace);
  const adopted = live && adoptedOwnership(live);
  const known = { document, ...(live ? { live } : {}), ...(adopted ? { adopted } : {}) };
  const applied = await answerOf(() => cluster.dryRunApply(kind, document, KUBECTL));
  if (applied === 'changed') return undefined;
  if (applied instanceof ApiFailure)
    return live || applied.status !== 404 ? refused(known, applied.message) : created(document, applied.message);
  if (!live) return { ...created(document), result: applied };
  if (applied.metadata.resourceVersion !== live.metadata.resourceVersion) return undefined;
  const predicted = predictApply(applied, document);
  const patch = predicted.migrates ? diffPatch(live, predicted.object) : [];
  const result = predicted.migrates ? await answerOf(() => cluster.dryRunPatch(kind, refOf(live), patch, KUBECTL)) : applied;
  if (result === 'changed') return undefined;
  if (result instanceof ApiFailure) return refused(known, `fields that the document drops cannot be removed: ${result.message}`);
  return { ...known, result, planned: compare({ document, live, applied, result, exact: predicted.exact }) };
}

/** A conflict is a change in between; another refusal of this very document is an answer; no answer is thrown. */
async function answerOf(request: () => Promise<KubeObject>): Promise<KubeObject | ApiFailure | 'changed'> {
  try {
    return await request();
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    if (thrown.status === 409) return 'changed';
    if (thrown.status === 500 || (thrown.status >= 400 && thrown.status < 500)) return thrown;
    throw thrown;
  }
}

interface Compared {
  readonly document: KubeObject;
  readonly live: KubeObject;
  /** The dry run's answer, which keeps what only a client-side manager owned. */
  readonly applied: KubeObject;
  readonly result: KubeObject;
  readonly exact: boolean;
}

function compare({ document, live, applied, result, exact }: Compared): PlannedObject {
  const fields = changedFields(comparable(live), comparable(result));
  const unseen = applied === result ? [] : changedFields(comparable(applied), comparable(result));
  return {
    ref: refOf(live),
    change: fields.length > 0 ? 'update' : 'unchanged',
    fields: maskChanges(document, fields),
    hidden: unseen.filter(isRemoval).map(({ path }) => path),
    taken: takenFields(live, fields),
    ...(exact ? {} : { note: 'which fields the apply removes cannot be predicted exactly for this object' }),
  };
}

function isRemoval(change: FieldChange): boolean {
  return change.after === undefined;
}

function created(document: KubeObject, note?: string): PreviewedObject {
  const planned: PlannedObject = { ref: refOf(document), change: 'create', fields: [], hidden: [], taken: [] };
  return { document, planned: note === undefined ? planned : { ...planned, note } };
}

function refused(known: Omit<PreviewedObject, 'planned'>, note: string): PreviewedObject {
  return { ...known, planned: { ref: refOf(known.live ?? known.document), change: 'refused', fields: [], hidden: [], taken: [], note } };
}

function definesKind({ kind, spec }: KubeObject, { apiVersion, kind: wanted }: KubeObject): boolean {
  if (kind !== 'CustomResourceDefinition' || !isRecord(spec) || !isRecord(spec.names)) return false;
  return spec.group === groupOf(apiVersion) && spec.names.kind === wanted;
}
