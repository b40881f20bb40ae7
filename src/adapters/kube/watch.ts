import { Fault } from '../../kernel/fault.ts';
import { textAt } from '../../kernel/json.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import { ApiFailure, isPassing, type ListOptions, type WatchUpdate } from '../../kernel/ports.ts';
import { withoutManagers } from '../../kube/managed-fields.ts';
import { readLines } from '../bounded-body.ts';
import { collectionPath, listAll, METADATA_ONE, typed, withQuery } from './items.ts';
import type { Transport } from './transport.ts';

export interface WatchSettings {
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

interface WatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject & { readonly code?: number };
}

/** The server ends a watch after this; bookmarks keep its place until then. */
const SERVER_SECONDS = 300;
/** Bookmarks come about once a minute: two missed ones mean that the connection is dead. */
const IDLE_MS = 130_000;

type Options = ListOptions & { readonly signal: AbortSignal };

/**
 * List, then watch: resumes after a break, lists again after a gap (410), backs off while the server is away. Throws if the first list
 * fails or on a refusal that waiting cannot change; ends when the signal aborts.
 */
export async function* watchAll(transport: Transport, kind: Kind, options: Options, settings: WatchSettings): AsyncGenerator<WatchUpdate> {
  const place: Place = { version: undefined, failures: 0, listed: false };
  while (!options.signal.aborted) {
    try {
      if (place.version === undefined) yield await snapshot(transport, kind, options, settings, place);
      yield* follow(transport, kind, options, place);
    } catch (thrown) {
      if (options.signal.aborted) return;
      if (!place.listed || !passing(thrown)) throw thrown;
      if (gone(thrown)) place.version = undefined;
      place.failures += 1;
      await settings.sleep(Math.min(30_000, 250 * 2 ** place.failures), options.signal).catch(() => undefined);
    }
  }
}

interface Place {
  /** Resource version to continue from; undefined: list again. */
  version: string | undefined;
  /** In a row, for the pause. */
  failures: number;
  listed: boolean;
}

async function snapshot(transport: Transport, kind: Kind, options: Options, settings: WatchSettings, place: Place): Promise<WatchUpdate> {
  // Cut down item by item: only a page at a time is whole.
  const keep = (object: KubeObject) => withoutManagers(options.keep?.(object) ?? object);
  const { items, resourceVersion } = await listAll(transport, kind, { ...options, keep }, settings.limit);
  place.version = resourceVersion;
  place.listed = true;
  return { type: 'snapshot', items };
}

async function* follow(transport: Transport, kind: Kind, options: Options, place: Place): AsyncGenerator<WatchUpdate> {
  const { labelSelector, fieldSelector, signal } = options;
  const query = { watch: 1, allowWatchBookmarks: true, timeoutSeconds: SERVER_SECONDS, resourceVersion: place.version };
  const path = withQuery(collectionPath(kind, options.namespace), { ...query, labelSelector, fieldSelector });
  const stream = await transport.stream({ path, signal, idleMs: IDLE_MS, ...(options.metadataOnly ? { accept: METADATA_ONE } : {}) });
  let heard = 0;
  try {
    for await (const line of readLines(stream)) {
      heard += 1;
      const update = read(kind, options, JSON.parse(line) as WatchLine, place);
      place.failures = 0;
      if (update) yield update;
    }
  } finally {
    stream.destroy();
  }
  // A server that hangs up at once, again and again, must not be asked in a tight loop.
  if (heard === 0) throw new ApiFailure(0, 'WatchEnded', 'the watch ended without a word');
}

function read(kind: Kind, options: Options, line: WatchLine, place: Place): WatchUpdate | undefined {
  const { type, object } = line;
  if (type === 'ERROR') {
    const status = object as unknown as { readonly code?: number; readonly reason?: string; readonly message?: string };
    // Whatever it is, the place is lost: a new list shows what was missed.
    place.version = undefined;
    throw new ApiFailure(status.code ?? 500, status.reason ?? 'WatchError', status.message ?? 'the watch failed');
  }
  place.version = object.metadata.resourceVersion ?? place.version;
  if (type === 'BOOKMARK') return undefined;
  const whole = typed(kind, object);
  return { type: type === 'DELETED' ? 'deleted' : 'changed', object: withoutManagers(options.keep?.(whole) ?? whole) };
}

function gone(thrown: unknown): boolean {
  return thrown instanceof ApiFailure && thrown.status === 410;
}

/** True if waiting may help: no answer, too many requests, a server in trouble, a gap, or an interrupted line. */
function passing(thrown: unknown): boolean {
  if (thrown instanceof ApiFailure) return isPassing(thrown) || gone(thrown);
  return thrown instanceof SyntaxError || (!(thrown instanceof Fault) && textAt(thrown, 'code') !== undefined);
}
