import type { Kind, KubeObject } from '../kernel/object.ts';
import type { ListOptions, WatchUpdate } from '../kernel/ports.ts';
import type { ApiFaults } from './api-faults.ts';
import { isSelected } from './select.ts';
import type { Change, Store } from './store.ts';

/**
 * What is there, then every change, until the signal aborts; nothing between the two gets lost. Across a broken connection
 * it goes on with what was missed, or with a whole snapshot, as the port promises.
 */
export async function* watchStore(
  store: Store,
  faults: ApiFaults,
  kind: Kind,
  options: ListOptions & { readonly signal: AbortSignal },
): AsyncGenerator<WatchUpdate> {
  const { signal } = options;
  if (signal.aborted) return;
  const snapshot = (): WatchUpdate => ({ type: 'snapshot', items: selected(store, kind, options) });
  let [queue, missed]: [WatchUpdate[], WatchUpdate[]] = [[snapshot()], []];
  let wake: () => void = () => undefined;
  const unlisten = store.listen((change) => {
    const update = updateOf(change, kind, options);
    if (update) (faults.watchesCut ? missed : queue).push(update);
    wake();
  });
  const unmend = faults.onMend((news) => {
    queue = [...queue, ...(news === 'missed' ? missed : [snapshot()])];
    missed = [];
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const next = queue.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    unlisten();
    unmend();
    signal.removeEventListener('abort', onAbort);
  }
}

function selected(store: Store, kind: Kind, options: ListOptions): readonly KubeObject[] {
  return store
    .list(kind)
    .filter((one) => isSelected(one, options))
    .map(slim);
}

/** An object that a selector no longer matches has gone, for that watch. */
function updateOf({ kind: where, before, after }: Change, kind: Kind, options: ListOptions): WatchUpdate | undefined {
  if (where.plural !== kind.plural || where.group !== kind.group) return undefined;
  if (after && isSelected(after, options)) return { type: 'changed', object: slim(after) };
  return before && isSelected(before, options) ? { type: 'deleted', object: slim(before) } : undefined;
}

function slim(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
