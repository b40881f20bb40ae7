import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { messageOf } from '../../kernel/fault.ts';
import type { ChartRelease, HelmStorage, Installation } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, objectKey, refOf, refText } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader, type Sources } from '../../kernel/ports.ts';
import { imageRelease } from '../../kernel/release.ts';
import { containersOf } from '../survey/index.ts';
import type { StoredRelease } from './chart-facts.ts';
import { type HelmRecord, isPending, parseHelmRecord, placedIn, recordedObjects, unpackRelease, withObjects } from './helm-record.ts';

const ROLE = 'helm itself reads and writes them: use an account that may get, list, create, update and delete them in this namespace.';

/**
 * The newest revision and the one that the chart tool continues from (domain §2.2); of Secrets and ConfigMaps the newer counts, as a change
 * of storage leaves old ones behind. So ConfigMaps alone are no proof where Secrets cannot be read.
 */
export async function readStoredRelease(
  cluster: ClusterReader,
  installation: Pick<Installation, 'chart' | 'components' | 'operator'>,
): Promise<Reading<StoredRelease>> {
  const { chart } = installation;
  if (chart === undefined) return { unread: 'the operator does not name a chart release' };
  const where = `release ${chart.namespace}/${chart.name}`;
  try {
    const { found, hidden } = await readableRevisions(cluster, chart);
    const newest = await readNewest(cluster, found.toSorted(newestFirst));
    if (!newest) return { unread: `${where} is stored neither in Secrets nor in ConfigMaps` };
    const old = 'value' in newest && hidden.has('Secret') ? oldBecause(newest.value, installation) : undefined;
    if ('unread' in newest || old === undefined) return newest;
    const { record, object } = newest.value;
    return {
      unread: `Secrets with ${where} may not be read, and revision ${record.revision} in ${object} may be an old one: ${old}`,
      hint: ROLE,
    };
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    const hint = thrown.status === 403 ? { hint: ROLE } : {};
    return { unread: `what holds ${where} cannot be read: ${messageOf(thrown)}`, ...hint };
  }
}

/** The objects of the installed release, and those that the release itself is stored in; empty if it cannot be read. */
export async function releaseDocuments(
  { cluster }: Sources,
  _context: Context,
  installation: Installation,
): Promise<readonly KubeObject[]> {
  const stored = await readStoredRelease(cluster, installation);
  if ('unread' in stored) return [];
  const { record, base, storage } = stored.value;
  const { namespace } = record;
  // A failed revision may have created objects already, and those of the one before it are still there.
  const revisions = record === base ? [record] : [record, base];
  const documents = revisions.flatMap((one) => [
    // As the chart tool names the object that it stores a revision in.
    { apiVersion: 'v1', kind: storage, metadata: { name: `sh.helm.release.v1.${one.name}.v${one.revision}`, namespace } },
    ...recordedObjects(one).map(placedIn(namespace)),
  ]);
  return [...new Map(documents.map((one) => [objectKey(one), one])).values()];
}

/** An account that may read only one of the kinds makes helm use that one. Throws ApiFailure if it holds nothing. */
async function readableRevisions(cluster: ClusterReader, chart: ChartRelease) {
  const found: KubeObject[] = [];
  const hidden = new Map<HelmStorage, ApiFailure>();
  for (const storage of ['Secret', 'ConfigMap'] as const) {
    try {
      found.push(...(await revisionsIn(cluster, storage, chart)));
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown;
      hidden.set(storage, thrown);
    }
  }
  const [first] = hidden.values();
  if (first && found.length === 0) throw first;
  return { found, hidden };
}

/** Metadata of the objects that hold revisions of a release; in all namespaces where none is given. */
export async function revisionsIn(
  cluster: ClusterReader,
  storage: HelmStorage,
  { name, namespace }: { readonly name: string; readonly namespace?: string },
): Promise<readonly KubeObject[]> {
  return cluster.list(K[storage], { namespace, labelSelector: `owner=helm,name=${name}`, metadataOnly: true });
}

/** The first of the revisions, newest first, with the one that an upgrade of it continues from. */
async function readNewest(cluster: ClusterReader, revisions: readonly KubeObject[]): Promise<Reading<StoredRelease> | undefined> {
  const [last] = revisions;
  const newest = last && (await readRevision(cluster, last));
  if (!newest || 'unread' in newest) return newest;
  const record = newest.value;
  const storage = storageOf(last);
  const uids = revisions.flatMap(({ metadata }) => metadata.uid ?? []);
  const alone = { value: { record, base: record, storage, object: objectText(last), ref: refOf(last), uids } };
  // As helm does it: the newest by content, the others by labels, and only in its present store.
  const deployed = revisions.find(({ kind, metadata }) => kind === storage && metadata.labels?.status === DEPLOYED);
  if (record.status === DEPLOYED || deployed === undefined || deployed === last) return alone;
  const base = await readRevision(cluster, deployed);
  if (!base) return { unread: `${objectText(deployed)} in ${deployed.metadata.namespace} is gone: someone is at work on the release` };
  return 'unread' in base ? base : { value: { ...alone.value, base: base.value } };
}

const DEPLOYED = 'deployed';

const storageOf = ({ kind }: KubeObject): HelmStorage => (kind === 'ConfigMap' ? 'ConfigMap' : 'Secret');

function objectText({ kind, metadata }: KubeObject): string {
  return `${kind.toLowerCase()}/${metadata.name}`;
}

/** What one stored revision holds; undefined where it is gone. Throws ApiFailure. */
export async function readRevision(cluster: ClusterReader, revision: KubeObject): Promise<Reading<HelmRecord> | undefined> {
  const { name, namespace = '' } = revision.metadata;
  const stored = await cluster.get(K[storageOf(revision)], name, namespace);
  if (!stored) return undefined;
  try {
    const record = parseHelmRecord(await unpackRelease(textAt(stored, 'data', 'release') ?? ''));
    return { value: await withObjects({ ...record, namespace: record.namespace || namespace }) };
  } catch (thrown) {
    return { unread: `${objectText(revision)} in ${namespace} cannot be understood: ${messageOf(thrown)}` };
  }
}

export function newestFirst(one: KubeObject, other: KubeObject): number {
  const [a, b] = [one, other].map(({ metadata }) => Number(metadata.labels?.version ?? 0));
  return (b ?? 0) - (a ?? 0);
}

/** Why a release in ConfigMaps may be a leftover of a move to unreadable Secrets, which helm does not mark (domain §2.2). */
function oldBecause({ record, base }: StoredRelease, installation: Pick<Installation, 'components' | 'operator'>): string | undefined {
  // Any other status has a revision after it, or nothing.
  const isLast = record.status === 'deployed' || record.status === 'failed' || isPending(record);
  if (!isLast) return `it is ${record.status}`;
  const { components, operator } = installation;
  const workload = operator && refText({ kind: 'Deployment', ...operator });
  const running = components.find((one) => one.component === 'operator' && one.workload === workload)?.image;
  if (running === undefined) return 'no operator runs by which it could be told';
  // A failed upgrade may have installed its operator, or not.
  return [record, base].some((one) => hasImage(one, running)) ? undefined : `it has not the operator that runs (${running})`;
}

/** By the tag: admission may have put another registry before it. A digest tells none, and has to be the same. */
function hasImage(record: HelmRecord, running: string): boolean {
  const tag = imageRelease(running);
  const images = recordedObjects(record).flatMap((object) => containersOf(object).map(({ image = '' }) => image));
  return images.some((image) => image === running || (tag !== undefined && imageRelease(image) === tag));
}
