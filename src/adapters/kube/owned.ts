import type { IncomingMessage } from 'node:http';
import { eachOf } from '../../kernel/each-of.ts';
import { isRecord, textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { groupOf, type Kind, type KubeObject, type ObjectMeta } from '../../kernel/object.ts';
import { ApiFailure, type ListOptions, TOO_MUCH } from '../../kernel/ports.ts';
import { LAST_APPLIED } from '../../kube/managed-fields.ts';
import { ANSWER_BYTES, readChunks } from '../bounded-body.ts';
import { collectionPath, listAll, METADATA_LIST, readItems, SMALL_BYTES, typed, untilWhole, withQuery } from './items.ts';
import { type ListHead, type MetadataPage, MetadataReader } from './metadata-list.ts';
import type { Transport } from './transport.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const PROTOBUF_LIST = `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${METADATA_LIST}`;
/** A page is to come within this time, and to have at most this many bytes; milliseconds. */
const SOON_MS = 400;
const PAGE_BYTES = 16 * 1024 * 1024;
/** Objects of the largest page, and of a kind that is read by namespaces, as a multiple of the first page. */
const LARGEST = 32;
/** Namespaces of one kind that are read at once. */
const WIDTH = 2;

/** Objects of the first page, and what the time is; milliseconds. */
export interface Paging {
  readonly limit: number;
  readonly now: () => number;
}

interface List {
  readonly transport: Transport;
  readonly kind: Kind;
  readonly options: ListOptions & { readonly ownedBy: readonly string[] };
  readonly paging: Paging;
  /** Objects of the next page; undefined for the list in one piece. */
  readonly size: { limit: number | undefined };
}

/** A group's objects of a resource, as metadata, page by page; in one piece if it grew too old between its pages again and again. */
export function listOwned(transport: Transport, kind: Kind, options: List['options'], paging: Paging): Promise<readonly KubeObject[]> {
  return untilWhole((isLast) => listOnce({ transport, kind, options, paging, size: { limit: isLast ? undefined : paging.limit } }));
}

async function listOnce(list: List): Promise<readonly KubeObject[]> {
  const first = await beginPage(list, {}).page;
  if (first.token === '') return ownedIn(list, first);
  learnFrom(list, first);
  const spread = await byNamespace(list, first);
  return spread ?? [...ownedIn(list, first), ...(await pagesFrom(list, { continue: first.token })).found];
}

/**
 * Reads a large kind again by its namespaces, several at once, at the state of its first page. Undefined where that is not worth it, is
 * refused, or does not give as many objects as the first page has counted: then the list continues page by page.
 */
async function byNamespace(list: List, first: MetadataPage): Promise<readonly KubeObject[] | undefined> {
  const { transport, kind, options, paging } = list;
  const { read, remaining, resourceVersion } = first;
  if (!kind.namespaced || options.namespace || remaining < LARGEST * paging.limit) return undefined;
  try {
    const signal = options.signal ? { signal: options.signal } : {};
    const { items } = await listAll(transport, K.Namespace, { metadataOnly: true, ...signal }, paging.limit);
    if (items.length * paging.limit > remaining) return undefined;
    const parts = await eachOf(items, WIDTH, ({ metadata: { name } }) =>
      pagesFrom({ ...list, options: { ...options, namespace: name } }, { resourceVersion, resourceVersionMatch: 'Exact' }),
    );
    const sum = parts.reduce((total, part) => total + part.read, 0);
    return sum === read + remaining ? parts.flatMap(({ found }) => found) : undefined;
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status >= 400) return undefined;
    throw thrown;
  }
}

/**
 * All pages from one on: objects that are owned, and the number of all that were read. The next is asked for as soon as the server has said
 * where it begins, while the one before is still read.
 */
async function pagesFrom(list: List, query: Query) {
  const found: KubeObject[] = [];
  let read = 0;
  for (let asked = beginPage(list, query); ; ) {
    const head = await asked.head;
    learnFrom(list, head);
    const next = head.token === '' ? undefined : beginPage(list, { continue: head.token });
    const page = await asked.page;
    // Read again after a broken connection; the pages under way belong to what was said at first.
    if (page.token !== head.token)
      throw new ApiFailure(410, 'Expired', `the list of ${list.kind.plural} continues elsewhere than at first`);
    found.push(...ownedIn(list, page));
    read += page.read;
    if (!next) return { found, read };
    asked = next;
  }
}

function ownedIn({ kind, options }: List, { items }: MetadataPage): readonly KubeObject[] {
  const groups = new Set(options.ownedBy);
  return items
    .filter(({ ownerReferences }) => ownerReferences?.some((owner) => groups.has(groupOf(owner.apiVersion))))
    .map((metadata) => typed(kind, { apiVersion: '', kind: '', metadata }));
}

/**
 * Small pages cost a request each, for which the server passes over all objects behind the page. Large pages of large objects load it and
 * take long: the size goes back then. A last page says nothing, for it may have few objects.
 */
function learnFrom({ size, paging }: List, { token, limit, tookMs, bytes }: Timed): void {
  if (limit === undefined || token === '') return;
  const most = Math.min(LARGEST * paging.limit, Math.floor((limit * PAGE_BYTES) / bytes));
  const next = tookMs <= SOON_MS ? limit * Math.max(2, Math.floor(SOON_MS / tookMs)) : paging.limit;
  size.limit = Math.max(1, Math.min(next, most));
}

type Query = Readonly<Partial<Record<'continue' | 'resourceVersion' | 'resourceVersionMatch', string>>>;
/** The page's beginning, the limit it was asked for with, and how long the server took; milliseconds. */
type Timed = ListHead & { readonly limit: number | undefined; readonly tookMs: number };

/** `head` is there as soon as the page begins to arrive in protobuf. */
function beginPage(list: List, query: Query): { readonly head: Promise<Timed>; readonly page: Promise<MetadataPage & Timed> } {
  const { promise: head, resolve, reject } = Promise.withResolvers<Timed>();
  const { now } = list.paging;
  const [since, { limit }] = [now(), list.size];
  const timed = <T>(read: T) => ({ ...read, limit, tookMs: now() - since });
  const page = readPage(list, { limit, ...query }, (read) => resolve(timed(read))).then(timed);
  page.then(resolve, reject);
  // Nobody waits for a page that was asked for ahead where the one before fails.
  head.catch(() => undefined);
  return { head, page };
}

/** A refusal in protobuf has no readable text, so it is asked for again in JSON. That also serves servers without protobuf. */
async function readPage(
  { transport, kind, options }: List,
  query: Query & { readonly limit: number | undefined },
  begun: (head: ListHead) => void,
): Promise<MetadataPage> {
  const { namespace, labelSelector, fieldSelector, signal, ownedBy } = options;
  const path = withQuery(collectionPath(kind, namespace), { labelSelector, fieldSelector, ...query });
  const texts = ownedBy.map((group) => `${group}/`);
  const ask = (accept: string) =>
    transport.read({ path, accept, ...(signal ? { signal } : {}) }, (message) => pageOf(message, new MetadataReader(texts, begun)));
  try {
    return await ask(PROTOBUF_LIST);
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure) || thrown.status < 400 || thrown.status === 410) throw thrown;
    if (thrown.status === TOO_MUCH) throw new ApiFailure(TOO_MUCH, 'TooManyRequests', 'the API server has too much to do');
    return ask(METADATA_LIST);
  }
}

async function pageOf(message: IncomingMessage, reader: MetadataReader): Promise<MetadataPage> {
  if (message.headers['content-type']?.startsWith(PROTOBUF)) {
    await readChunks(message, (chunk) => reader.take(chunk));
    return reader.page();
  }
  const items: ObjectMeta[] = [];
  const room = { left: ANSWER_BYTES };
  const take = (item: unknown) => items.push(slim(metadataIn(item)));
  const list = await readItems<unknown, unknown>(message, take, SMALL_BYTES, room).catch((thrown: unknown) => {
    throw thrown instanceof SyntaxError ? new ApiFailure(200, 'NotJson', 'the answer is no list of objects') : thrown;
  });
  return {
    items,
    read: items.length,
    token: textAt(list, 'metadata', 'continue') ?? '',
    resourceVersion: textAt(list, 'metadata', 'resourceVersion') ?? '',
    // Read by namespaces are only lists that come in protobuf.
    remaining: 0,
    bytes: ANSWER_BYTES - room.left,
  };
}

function metadataIn(item: unknown): ObjectMeta {
  if (!isRecord(item) || !isRecord(item.metadata)) throw new SyntaxError('it is no object');
  return item.metadata as unknown as ObjectMeta;
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
