import type { IncomingMessage } from 'node:http';
import { isRecord, textAt } from '../../kernel/json.ts';
import { groupOf, type Kind, type KubeObject, type ObjectMeta } from '../../kernel/object.ts';
import { ApiFailure, type ListOptions } from '../../kernel/ports.ts';
import { LAST_APPLIED } from '../../kube/applied-owners.ts';
import { readChunks, readText } from '../bounded-body.ts';
import { collectionPath, METADATA_LIST, typed, withQuery } from './items.ts';
import { type MetadataPage, metadataReader } from './metadata-list.ts';
import type { Transport } from './transport.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const PROTOBUF_LIST = `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${METADATA_LIST}`;
/** Times a list that grew too old between its pages is begun again, the last time in one piece. */
const RESTARTS = 3;
/** A page that arrived within this time (milliseconds) is followed by one of twice the size, up to a multiple of the first. */
const SOON_MS = 400;
const LARGEST = 8;

/** Objects of the first page, and what the time is; milliseconds. */
export interface Paging {
  readonly limit: number;
  readonly now: () => number;
}

/** A group's objects of a resource, as metadata, page by page. Starts again if the continue token has expired (410). */
export async function listOwned(
  transport: Transport,
  kind: Kind,
  options: ListOptions & { readonly ownedBy: readonly string[] },
  paging: Paging,
): Promise<readonly KubeObject[]> {
  for (let restart = 0; ; restart += 1) {
    try {
      return await listOnce(transport, kind, options, restart < RESTARTS ? paging : undefined);
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 410 || restart >= RESTARTS) throw thrown;
    }
  }
}

async function listOnce(
  transport: Transport,
  kind: Kind,
  options: ListOptions & { readonly ownedBy: readonly string[] },
  paging: Paging | undefined,
): Promise<readonly KubeObject[]> {
  const groups = new Set(options.ownedBy);
  const { labelSelector, fieldSelector, signal } = options;
  const found: KubeObject[] = [];
  let limit = paging?.limit;
  for (let token = ''; ; ) {
    const asked = paging?.now() ?? 0;
    const path = withQuery(collectionPath(kind, options.namespace), { labelSelector, fieldSelector, limit, continue: token });
    const page = await readPage(transport, path, options.ownedBy, signal);
    for (const metadata of page.items) {
      if (metadata.ownerReferences?.some((owner) => groups.has(groupOf(owner.apiVersion))))
        found.push(typed(kind, { apiVersion: '', kind: '', metadata }));
    }
    token = page.token;
    if (token === '') return found;
    if (paging && limit !== undefined) limit = nextLimit(limit, paging, paging.now() - asked);
  }
}

/** Small pages cost a request each; large pages of large objects load the server and take long, so the size goes back then. */
function nextLimit(limit: number, paging: Paging, tookMs: number): number {
  return tookMs <= SOON_MS ? Math.min(2 * limit, LARGEST * paging.limit) : paging.limit;
}

/** A refusal in protobuf has no readable text, so it is asked for again in JSON. That also serves servers without protobuf. */
async function readPage(
  transport: Transport,
  path: string,
  groups: readonly string[],
  signal: AbortSignal | undefined,
): Promise<MetadataPage> {
  const ask = (accept: string) =>
    transport.read({ path, accept, ...(signal ? { signal } : {}) }, (message) =>
      pageOf(
        message,
        groups.map((group) => `${group}/`),
      ),
    );
  try {
    return await ask(PROTOBUF_LIST);
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure) || thrown.status < 400 || thrown.status === 410) throw thrown;
    return ask(METADATA_LIST);
  }
}

async function pageOf(message: IncomingMessage, texts: readonly string[]): Promise<MetadataPage> {
  if (message.headers['content-type']?.startsWith(PROTOBUF)) {
    const reader = metadataReader(texts);
    await readChunks(message, reader.take);
    return reader.page();
  }
  const list: unknown = JSON.parse(await readText(message));
  const items = isRecord(list) ? (list.items ?? []) : undefined;
  if (!Array.isArray(items) || !items.every((item) => isRecord(item) && isRecord(item.metadata)))
    throw new ApiFailure(200, 'NotJson', 'the answer is no list of objects');
  return {
    items: items.map((item: { readonly metadata: ObjectMeta }) => slim(item.metadata)),
    read: items.length,
    token: textAt(list, 'metadata', 'continue') ?? '',
  };
}

/** As little as is read from protobuf: whole metadata would hold managed fields in memory. */
function slim({ name, namespace, uid, resourceVersion, annotations, ownerReferences }: ObjectMeta): ObjectMeta {
  const applied: unknown = annotations?.[LAST_APPLIED];
  return {
    name,
    ...(namespace ? { namespace } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(typeof applied === 'string' && applied.includes('"ownerReferences"') ? { annotations: { [LAST_APPLIED]: applied } } : {}),
    // An aggregated server may say anything.
    ownerReferences: Array.isArray(ownerReferences) ? ownerReferences.filter((one) => typeof one?.apiVersion === 'string') : [],
  };
}
