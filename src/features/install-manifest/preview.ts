import { eachOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import { contains, jsonAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { groupOf, type Kind, type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { dropAt } from '../../kube/fields-v1.ts';
import { adoptedOwnership, KUBECTL, ownedAlone, predictApply } from '../../kube/managed-fields.ts';
import { applyAfterAdoption } from '../../manifest/apply-document.ts';
import { diffPatch } from '../../manifest/json-patch.ts';
import type { Leftover } from '../../manifest/leftovers.ts';
import { type Manifest, objectsIn } from '../../manifest/manifest.ts';
import { AUTOSCALER, attempt } from '../survey/index.ts';
import { compare, created, type PreviewedObject, redefined, refused, stateOf, withRestarts } from './outcome.ts';
import { podsAnswer, startsPods } from './pods-admitted.ts';

/** Controllers may write between two reads of one object. */
const ATTEMPTS = 6;
const INEXACT = 'which fields the apply removes cannot be predicted exactly for this object';

/** What the old release left in a live object that the document has not. */
type LeftoversOf = (live: KubeObject, document: KubeObject) => readonly Leftover[];

/**
 * Predicts `kubectl apply --server-side --force-conflicts` of one document by dry runs; `together` may define kinds that are not served
 * yet. Throws ApiFailure only if the server gives no answer about the document.
 */
export async function previewDocument(
  cluster: ClusterReader,
  document: KubeObject,
  together: readonly KubeObject[] = [],
  leftoversOf: LeftoversOf = () => [],
): Promise<PreviewedObject> {
  const preview = await previewAny(cluster, document, together, leftoversOf);
  const { live, result } = preview;
  const scaled = withRestarts(await withAutoscalers(cluster, preview.planned), live, result);
  const pods = result && startsPods(scaled, result) ? await podsAnswer(cluster, result, live, together) : undefined;
  return { ...preview, planned: { ...scaled, ...(pods ? { pods } : {}), state: stateOf(preview), ...bodiesOf(preview) } };
}

/** Of what is refused nothing is known to come. */
function bodiesOf({ document, live, result, planned }: PreviewedObject): Pick<PlannedObject, 'bodies'> {
  const after = result ?? (planned.change === 'create' ? document : undefined);
  return after ? { bodies: { ...(live ? { before: live } : {}), after } } : {};
}

async function previewAny(
  cluster: ClusterReader,
  document: KubeObject,
  together: readonly KubeObject[],
  leftoversOf: LeftoversOf,
): Promise<PreviewedObject> {
  const kind = await cluster.resolve(document.apiVersion, document.kind);
  if (kind) return previewKnown(cluster, kind, document, leftoversOf);
  if (together.some((one) => definesKind(one, document))) return created(document, 'its kind is defined by the same manifest');
  return refused({ document }, `the server has no kind ${document.kind} in ${document.apiVersion}`);
}

async function previewKnown(cluster: ClusterReader, kind: Kind, document: KubeObject, leftoversOf: LeftoversOf): Promise<PreviewedObject> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const preview = await previewOnce(cluster, kind, document, leftoversOf);
    if (preview) return preview;
  }
  throw new Fault('failed', `${refText(refOf(document))} changed during each of ${ATTEMPTS} attempts to preview it`, [
    'Find out which controller keeps writing to it, then run the command again.',
  ]);
}

/** Undefined if the object changed between the requests. */
async function previewOnce(
  cluster: ClusterReader,
  kind: Kind,
  document: KubeObject,
  leftoversOf: LeftoversOf,
): Promise<PreviewedObject | undefined> {
  const live = await cluster.get(kind, document.metadata.name, document.metadata.namespace);
  const leftovers = live ? leftoversOf(live, document).map(({ path }) => path) : [];
  const known = { document, ...(live ? { live, ...handedOver(live, leftovers) } : {}) };
  // The server accepts an apply of an object that only waits for its finalizers, but it is deleted all the same.
  const going = live?.metadata.deletionTimestamp;
  if (going !== undefined) return refused(known, `it has been marked for deletion at ${going}: what is written to it goes with it`);
  const applied = await answerOf(() => cluster.dryRunApply(kind, document, KUBECTL));
  if (applied === 'changed') return undefined;
  if (applied instanceof ApiFailure) return previewRefused(cluster, kind, known, applied);
  if (!live) return { ...created(document), result: applied };
  if (applied.metadata.resourceVersion !== live.metadata.resourceVersion) return undefined;
  const predicted = predictApply(applied, document);
  const wanted = leftovers.reduce((object: unknown, path) => dropAt(object, path), predicted.object) as KubeObject;
  const removes = predicted.removes || wanted !== predicted.object;
  const result = removes ? await answerOf(() => cluster.dryRunPatch(kind, refOf(live), diffPatch(live, wanted), KUBECTL)) : applied;
  if (result === 'changed') return undefined;
  if (result instanceof ApiFailure)
    return refused(known, `fields that the document drops cannot be removed: ${result.message}`, result.message);
  return { ...known, result, planned: compare({ document, live, applied, result, ...(predicted.exact ? {} : { note: INEXACT }) }) };
}

/** What is handed over to kubectl's server-side apply before it, so that it removes in one write what the document no longer says. */
function handedOver(live: KubeObject, leftovers: readonly (readonly string[])[]): Pick<PreviewedObject, 'adopted' | 'adoptedLeftovers'> {
  const clientSide = adoptedOwnership(live);
  const withManagers = { ...live, metadata: { ...live.metadata, ...(clientSide ? { managedFields: clientSide } : {}) } };
  const alone = ownedAlone(withManagers, leftovers);
  const adopted = alone ?? clientSide;
  // Where nobody else owns them, kubectl removes them itself.
  const adoptedLeftovers = alone && ownedAlone(live, leftovers);
  return { ...(adopted ? { adopted } : {}), ...(adoptedLeftovers ? { adoptedLeftovers } : {}) };
}

/** The dry run was refused: for good, or until ownership is handed over or a namespace exists. */
async function previewRefused(
  cluster: ClusterReader,
  kind: Kind,
  known: Omit<PreviewedObject, 'planned'>,
  { status, message }: ApiFailure,
): Promise<PreviewedObject | undefined> {
  const { live, adopted, document } = known;
  if (!live && status === 404) return created(document, message);
  return live && adopted && status === 422 ? previewAdopted(cluster, kind, { ...known, live }, message) : refused(known, message, message);
}

/**
 * A document may not go together with fields of the client-side apply (an env `value` beside its new `valueFrom`). Handing
 * ownership over first, as the apply stage does, removes those fields in the same write.
 */
async function previewAdopted(
  cluster: ClusterReader,
  kind: Kind,
  known: Omit<PreviewedObject, 'planned'> & { readonly live: KubeObject },
  refusal: string,
): Promise<PreviewedObject | undefined> {
  const { live, document, adopted = [] } = known;
  const wanted = applyAfterAdoption(live, document, adopted);
  if (!wanted) return refused(known, refusal, refusal);
  const result = await answerOf(() => cluster.dryRunPatch(kind, refOf(live), diffPatch(live, wanted), KUBECTL));
  if (result === 'changed') return undefined;
  if (result instanceof ApiFailure) return refused(known, refusal, refusal);
  const note = `only once field ownership has been taken over; before that the server refuses it: ${refusal}`;
  return { ...known, result, planned: compare({ document, live, applied: result, result, note }) };
}

/** A conflict is a concurrent change; another refusal of this document is an answer; no answer is thrown. */
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

/** True for the definition of the other's kind. */
function definesKind({ kind, spec }: KubeObject, { apiVersion, kind: wanted }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition' && contains(spec, { group: groupOf(apiVersion), names: { kind: wanted } });
}

/** The same with each HorizontalPodAutoscaler by its name; where they may not be listed, it stays one without a name. */
export async function withAutoscalers(cluster: Pick<ClusterReader, 'list'>, planned: PlannedObject): Promise<PlannedObject> {
  const { takers, ref } = planned;
  if (!takers?.some(({ name }) => name === AUTOSCALER)) return planned;
  const names = await autoscalersOf(cluster, ref);
  if (names.length === 0) return planned;
  const name = `HorizontalPodAutoscaler ${names.join(', ')}`;
  return { ...planned, takers: takers.map((taker) => (taker.name === AUTOSCALER ? { ...taker, name } : taker)) };
}

async function autoscalersOf(cluster: Pick<ClusterReader, 'list'>, ref: ObjectRef): Promise<readonly string[]> {
  const { namespace, kind, name } = ref;
  const all = await attempt(() => cluster.list(K.HorizontalPodAutoscaler, namespace === undefined ? {} : { namespace }));
  if ('unread' in all) return [];
  const own = all.value.filter(({ spec }) => contains(jsonAt(spec, 'scaleTargetRef'), { kind, name }));
  return own.map(({ metadata }) => metadata.name);
}

/** Requests under way at a time. */
const WIDTH = 6;

export async function previewDocuments(
  cluster: ClusterReader,
  manifest: Manifest,
  leftoversOf?: LeftoversOf,
): Promise<readonly PreviewedObject[]> {
  const documents = objectsIn(manifest);
  const previews = await eachOf(documents, WIDTH, (document) => previewDocument(cluster, document, documents, leftoversOf));
  const newDefinitions = previews
    .filter(({ live, planned }) => live !== undefined && planned.change === 'update')
    .map(({ document }) => document);
  return previews.map((preview) => (newDefinitions.some((one) => definesKind(one, preview.document)) ? redefined(preview) : preview));
}
