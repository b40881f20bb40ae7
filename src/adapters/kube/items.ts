import type { IncomingMessage } from 'node:http';
import { isRecord } from '../../kernel/json.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ListOptions } from '../../kernel/ports.ts';
import { readChunks, TooLarge } from '../bounded-body.ts';
import type { Call } from '../trace.ts';
import type { Transport } from './transport.ts';

const [QUOTE, BACKSLASH, COMMA, OBJECT, OBJECT_END, ARRAY, ARRAY_END] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d];

/** Depth inside the items of a list: in the list's object, in its array. */
const ITEMS = 2;

/**
 * Cuts a list's JSON into items as it arrives, so that a page of hundreds of objects is never in memory at once. An item is an object in an
 * array of the outermost object (`items`); the rest is kept as text.
 */
class ItemCutter {
  readonly #item: (text: string) => void;
  readonly #around: Buffer[] = [];
  #pieces: Buffer[] = [];
  #depth = 0;
  /** In the array of the outermost object. */
  #listing = false;
  #quoted = false;
  #escaped = false;

  constructor(item: (text: string) => void) {
    this.#item = item;
  }

  /** The list without its items; JSON if the whole was. */
  around(): string {
    return Buffer.concat(this.#around).toString('utf8');
  }

  feed(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#escaped) this.#escaped = false;
      else if (this.#quoted) {
        if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#quoted = false;
      } else if (byte === QUOTE) this.#quoted = true;
      else start = this.#mark(byte, chunk, start, at);
    }
    // A copy: the rest of the chunk may go.
    if (start < chunk.length) (this.#listing && this.#depth > ITEMS ? this.#pieces : this.#around).push(Buffer.from(chunk.subarray(start)));
  }

  /** Where the next text to keep begins. */
  #mark(byte: number, chunk: Buffer, start: number, at: number): number {
    switch (byte) {
      case OBJECT:
      case ARRAY: {
        const next = this.#between() ? this.#leaveAround(chunk, start, at) : start;
        this.#depth += 1;
        if (this.#depth === ITEMS) this.#listing = byte === ARRAY;
        return next;
      }
      case OBJECT_END:
      case ARRAY_END:
        this.#depth -= 1;
        return this.#between() ? this.#end(chunk, start, at + 1) : start;
      case COMMA:
        return this.#between() ? this.#leaveAround(chunk, start, at) + 1 : start;
      default:
        return start;
    }
  }

  #between(): boolean {
    return this.#listing && this.#depth === ITEMS;
  }

  #leaveAround(chunk: Buffer, start: number, at: number): number {
    this.#around.push(Buffer.from(chunk.subarray(start, at)));
    return at;
  }

  #end(chunk: Buffer, start: number, at: number): number {
    const last = chunk.subarray(start, at);
    this.#item((this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])).toString('utf8'));
    this.#pieces = [];
    return at;
  }
}

/**
 * A list of at most this size is parsed at once, which is quicker than to look for its items. V8 puts what it parses of a text of more than
 * 100 KiB among its old objects, where garbage stays longer.
 */
export const SMALL_BYTES = 64 * 1024;

/** Bytes that a list may still have. */
interface Room {
  left: number;
}

/** Reads a list's body: each item to `item`; resolves with the list without them. Throws SyntaxError if it is no list in JSON, TooLarge without room. */
export async function readItems<List, Item>(
  message: IncomingMessage,
  item: (item: Item) => void,
  small: number,
  room: Room = { left: Number.POSITIVE_INFINITY },
): Promise<List> {
  const held: Buffer[] = [];
  let size = 0;
  let cutter: ItemCutter | undefined;
  await readChunks(message, (chunk) => {
    size += chunk.length;
    room.left -= chunk.length;
    if (room.left < 0) throw new TooLarge(size);
    held.push(chunk);
    if (size <= small) return;
    cutter ??= new ItemCutter((text) => item(JSON.parse(text) as Item));
    for (const one of held.splice(0)) cutter.feed(one);
  });
  const list: unknown = JSON.parse(cutter?.around() ?? Buffer.concat(held).toString('utf8'));
  const items = isRecord(list) ? (list.items ?? []) : undefined;
  if (!isRecord(list) || !Array.isArray(items)) throw new SyntaxError('it is no list of objects');
  for (const one of items) item(one);
  return { ...list, items: list.items && [] } as List;
}

/** Media types with which a server sends metadata only; an API server that cannot sends whole objects. */
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
export const METADATA_ONE = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

interface Listed {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

interface Page {
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
  readonly items?: readonly KubeObject[] | null;
}

/** Times a list that grew too old between its pages is begun again. */
const RESTARTS = 3;

/** Begins a list again if its state is no longer known to the server (410). `isLast`: it is not begun once more. */
export async function untilWhole<T>(list: (isLast: boolean) => Promise<T>): Promise<T> {
  for (let restart = 0; ; restart += 1) {
    try {
      return await list(restart >= RESTARTS);
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 410 || restart >= RESTARTS) throw thrown;
    }
  }
}

/** Text of all pages of one list, where its objects are kept whole and where they are cut down; bytes. Tenants decide how large theirs are. */
const MOST_BYTES: Most = { whole: 512 * 1024 * 1024, cut: 4 * 1024 * 1024 * 1024 };

interface Most {
  readonly whole: number;
  readonly cut: number;
}

/** Every object of a resource, page by page. */
export function listAll(transport: Transport, kind: Kind, options: ListOptions, limit: number, most: Most = MOST_BYTES): Promise<Listed> {
  return untilWhole(() => listOnce(transport, kind, options, limit, most));
}

async function listOnce(
  transport: Transport,
  kind: Kind,
  { namespace, labelSelector, fieldSelector, signal, metadataOnly, keep }: ListOptions,
  limit: number,
  most: Most,
): Promise<Listed> {
  const items: KubeObject[] = [];
  const room = { left: keep ? most.cut : most.whole };
  let token: string | undefined;
  for (;;) {
    const path = withQuery(collectionPath(kind, namespace), { labelSelector, fieldSelector, limit, continue: token });
    const call = { path, ...(metadataOnly ? { accept: METADATA_LIST } : {}), ...(signal ? { signal } : {}) };
    const page = await readPage(transport, call, { kind, keep, room, before: items });
    for (const item of page.items ?? []) items.push(item);
    token = page.metadata?.continue;
    if (!token) return { items, resourceVersion: page.metadata?.resourceVersion ?? '' };
  }
}

interface PageOf extends Pick<ListOptions, 'keep'> {
  readonly kind: Kind;
  readonly room: Room;
  /** Of the pages before. */
  readonly before: readonly KubeObject[];
}

/** A page of which only what is kept is ever in memory. */
async function readPage(transport: Transport, call: Call, { kind, keep, room, before }: PageOf): Promise<Page> {
  return transport.read(call, async (message) => {
    const items: KubeObject[] = [];
    const take = (item: KubeObject) => items.push(keep ? keep(typed(kind, item)) : typed(kind, item));
    try {
      const page = await readItems<Page, KubeObject>(message, take, keep ? SMALL_BYTES : Number.POSITIVE_INFINITY, room);
      return { ...page, items };
    } catch (thrown) {
      if (thrown instanceof SyntaxError) throw new ApiFailure(200, 'NotJson', `${call.path} is not JSON: ${thrown.message}`);
      if (thrown instanceof TooLarge) throw new ApiFailure(200, 'TooLarge', tooLarge(kind, [...before, ...items]));
      throw thrown;
    }
  });
}

/** With the namespace that most of the objects read so far are in. */
function tooLarge({ plural }: Kind, items: readonly KubeObject[]): string {
  const fact = `the list of ${plural} is too large to be read`;
  const [most] = [...Map.groupBy(items, ({ metadata }) => metadata.namespace ?? '')].toSorted(([, a], [, b]) => b.length - a.length);
  if (!most?.[0]) return fact;
  return `${fact}: ${most[1].length} of the first ${items.length} are in namespace ${most[0]}`;
}

/** Items of a list come without apiVersion and kind, metadata with another's. */
export function typed(kind: Kind, object: KubeObject): KubeObject {
  return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where a resource's objects are listed and made. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const scope = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${kind.plural}`;
}

/** Where one object is; its name exactly as given. */
export function objectPath(kind: Kind, name: string, namespace?: string): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

/** A path with the parameters that are set. */
export function withQuery(path: string, query: Query): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== false);
  if (set.length === 0) return path;
  return `${path}?${set.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`;
}
