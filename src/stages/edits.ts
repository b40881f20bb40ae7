import type { Context } from '../core/context.ts';
import type { Edit } from '../core/edit.ts';
import type { Installation } from '../core/installation.ts';
import { type KubeObject, objectKey } from '../core/object.ts';
import { ApiFailure, type ClusterReader, type Sources } from '../core/ports.ts';
import { isCompared, liveEdits, manifestEdits, removedObject, takenEdits } from '../merge/edits.ts';
import { LAST_APPLIED } from '../merge/normalise.ts';
import { readBase } from './base.ts';
import type { PreviewedObject } from './preview.ts';
import { eachOf } from './reading.ts';

export interface EditSurvey {
  readonly edits: readonly Edit[];
  /** Release of the manifest that the cluster was compared with. */
  readonly base: string;
  /** Live objects of the installed release that the target no longer has. */
  readonly orphans: readonly KubeObject[];
}

/** Requests under way at a time. */
const WIDTH = 6;

/**
 * Finds what a person changed in the manifest of the installed release, and what the previewed upgrade does to it.
 * Throws NoBase if that manifest is not at hand.
 */
export async function readEdits(
  sources: Sources,
  context: Context,
  installation: Installation,
  previews: readonly PreviewedObject[],
): Promise<EditSurvey> {
  const own = new Map(previews.map(({ document, live }) => [objectKey(document), live && (lastApplied(live) ?? live)]));
  const base = await readBase(sources, context, installation, own);
  const documents = new Map(base.documents.map((object) => [objectKey(object), object]));
  const found = await eachOf(previews, WIDTH, (preview) => editsOf(sources.cluster, documents.get(objectKey(preview.document)), preview));
  const targeted = new Set(previews.map(({ document }) => objectKey(document)));
  const dropped = base.documents.filter((object) => !targeted.has(objectKey(object)));
  const orphans = await eachOf(dropped, WIDTH, (object) => liveOf(sources.cluster, object));
  return { edits: found.flat(), base: base.release, orphans: orphans.filter((one) => one !== undefined) };
}

async function liveOf(cluster: ClusterReader, { apiVersion, kind, metadata }: KubeObject): Promise<KubeObject | undefined> {
  const known = await cluster.resolve(apiVersion, kind);
  return known && cluster.get(known, metadata.name, metadata.namespace);
}

async function editsOf(cluster: ClusterReader, base: KubeObject | undefined, preview: PreviewedObject): Promise<readonly Edit[]> {
  const { live, result, document, planned } = preview;
  if (!isCompared(document)) return [];
  if (!live) return base && (await cluster.resolve(base.apiVersion, base.kind)) ? removedObject(base, planned) : [];
  if (!result) return [];
  const applied = lastApplied(live);
  if (!applied) return base ? rawEdits(cluster, base, preview, { live, result }) : takenEdits(planned);
  const twin = await asTheServerDefaultsIt(cluster, applied);
  return [
    ...(base ? manifestEdits({ base, mine: applied, theirs: document, result }) : []),
    ...(twin ? liveEdits({ base: twin, mine: live, theirs: document, result }) : takenEdits(planned)),
  ];
}

/** Nobody noted what was applied: only the live object tells, compared with what the release's own document would have become. */
async function rawEdits(
  cluster: ClusterReader,
  base: KubeObject,
  { document }: PreviewedObject,
  { live, result }: { readonly live: KubeObject; readonly result: KubeObject },
): Promise<readonly Edit[]> {
  const twin = await asTheServerDefaultsIt(cluster, base);
  // Without the server's defaults some of them look like edits: better one too many than one lost in silence.
  return liveEdits({ base: twin ?? base, mine: live, theirs: document, result });
}

/** The file that the person applied, as kubectl noted it on the object. */
function lastApplied(live: KubeObject): KubeObject | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  try {
    return text === undefined ? undefined : (JSON.parse(text) as KubeObject);
  } catch {
    return undefined; // cut off by hand: then only the live object tells
  }
}

/** A dry-run twin under another name gets the defaults that the live object got; undefined if the server does not take one. */
async function asTheServerDefaultsIt(cluster: ClusterReader, object: KubeObject): Promise<KubeObject | undefined> {
  const kind = await cluster.resolve(object.apiVersion, object.kind);
  if (!kind) return undefined;
  const twin = { ...object, metadata: { ...object.metadata, name: `${object.metadata.name.slice(0, 40)}-netsvc-upgrade-twin` } };
  try {
    const created = await cluster.dryRunCreate(kind, twin);
    return { ...created, metadata: { ...created.metadata, name: object.metadata.name } };
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status >= 400 && thrown.status < 500) return undefined;
    throw thrown;
  }
}
