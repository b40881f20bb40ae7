import type { StoredRelease } from '../../checks/chart-facts.ts';
import type { Reading } from '../../core/check.ts';
import type { Context } from '../../core/context.ts';
import { messageOf } from '../../core/fault.ts';
import type { HelmStorage } from '../../core/helm-argv.ts';
import { parseHelmRecord } from '../../core/helm-record.ts';
import { unpackRelease } from '../../core/helm-unpack.ts';
import type { ChartRelease, Installation } from '../../core/installation.ts';
import { textAt } from '../../core/json-map.ts';
import { K } from '../../core/kinds.ts';
import type { KubeObject } from '../../core/object.ts';
import { ApiFailure, type ClusterReader, type Sources } from '../../core/ports.ts';
import { parseManifest } from '../../merge/manifest.ts';

const ROLE = 'helm itself reads and writes them: use an account that may get, list, create, update and delete them in this namespace.';

/**
 * The newest revision of the release, in Secrets or in ConfigMaps (domain §2.2). In both, the newer counts: who told the chart tool to
 * use the other kind has left the old ones where they were.
 */
export async function readStoredRelease(cluster: ClusterReader, chart: ChartRelease | undefined): Promise<Reading<StoredRelease>> {
  if (chart === undefined) return { unread: 'the operator does not name a chart release' };
  const where = `release ${chart.namespace}/${chart.name}`;
  try {
    const found = await readableRevisions(cluster, chart);
    const last = found.toSorted((a, b) => revisionOf(b.revision) - revisionOf(a.revision))[0];
    return (last && (await readRevision(cluster, chart, last))) ?? { unread: `${where} is stored neither in Secrets nor in ConfigMaps` };
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    const hint = thrown.status === 403 ? { hint: ROLE } : {};
    return { unread: `what holds ${where} cannot be read: ${messageOf(thrown)}`, ...hint };
  }
}

/** The objects of the installed release, and the object that the release itself is stored in; empty if it cannot be read. */
export async function releaseDocuments({ cluster }: Sources, _context: Context, { chart }: Installation): Promise<readonly KubeObject[]> {
  const stored = await readStoredRelease(cluster, chart);
  if ('unread' in stored) return [];
  const { record, storage, object } = stored.value;
  const { namespace } = record;
  const itself = { apiVersion: 'v1', kind: storage, metadata: { name: object.slice(object.indexOf('/') + 1), namespace } };
  const documents = parseManifest(record.manifest, 'the stored release').documents;
  return [itself, ...documents.map(({ object: one }) => ({ ...one, metadata: { namespace, ...one.metadata } }))];
}

interface StoredRevision {
  readonly storage: HelmStorage;
  /** Its metadata. */
  readonly revision: KubeObject;
}

/** Who may read one of the two kinds alone has the chart tool use that one. Throws ApiFailure where what may be read holds none. */
async function readableRevisions(cluster: ClusterReader, chart: ChartRelease): Promise<readonly StoredRevision[]> {
  const found: StoredRevision[] = [];
  const refused: ApiFailure[] = [];
  for (const storage of ['Secret', 'ConfigMap'] as const) {
    try {
      found.push(...(await revisionsIn(cluster, storage, chart)));
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown;
      refused.push(thrown);
    }
  }
  const [first] = refused;
  if (first && found.length === 0) throw first;
  return found;
}

async function revisionsIn(
  cluster: ClusterReader,
  storage: HelmStorage,
  { name, namespace }: ChartRelease,
): Promise<readonly StoredRevision[]> {
  const options = { namespace, labelSelector: `owner=helm,name=${name}`, metadataOnly: true };
  return (await cluster.list(K[storage], options)).map((revision) => ({ storage, revision }));
}

async function readRevision(
  cluster: ClusterReader,
  { namespace }: ChartRelease,
  { storage, revision }: StoredRevision,
): Promise<Reading<StoredRelease> | undefined> {
  const stored = await cluster.get(K[storage], revision.metadata.name, namespace);
  if (!stored) return undefined;
  const object = `${storage.toLowerCase()}/${stored.metadata.name}`;
  try {
    const record = parseHelmRecord(await unpackRelease(textAt(stored, 'data', 'release') ?? ''));
    return { value: { record: { ...record, namespace: record.namespace || namespace }, storage, object } };
  } catch (thrown) {
    return { unread: `${object} in ${namespace} cannot be understood: ${messageOf(thrown)}` };
  }
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.labels?.version ?? 0);
}
