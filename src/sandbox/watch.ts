import type { Kind, KubeObject } from '../core/object.ts';
import type { ListOptions, WatchUpdate } from '../core/ports.ts';
import { isSelected } from './select.ts';
import type { Store } from './store.ts';

/** What is there, then every change, until the signal aborts; nothing between the two gets lost. */
export async function* watchStore(
  store: Store,
  kind: Kind,
  options: ListOptions & { readonly signal: AbortSignal },
): AsyncGenerator<WatchUpdate> {
  const { signal } = options;
  if (signal.aborted) return;
  const queue: WatchUpdate[] = [
    {
      type: 'snapshot',
      items: store
        .list(kind)
        .filter((one) => isSelected(one, options))
        .map(slim),
    },
  ];
  let wake: () => void = () => undefined;
  const stop = store.listen(({ kind: where, before, after }) => {
    if (where.plural !== kind.plural || where.group !== kind.group) return;
    const update = updateOf(
      before && isSelected(before, options) ? before : undefined,
      after && isSelected(after, options) ? after : undefined,
    );
    if (update) queue.push(update);
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
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}

/** An object that a selector no longer matches has gone, for that watch. */
function updateOf(before: KubeObject | undefined, after: KubeObject | undefined): WatchUpdate | undefined {
  if (after) return { type: 'changed', object: slim(after) };
  return before && { type: 'deleted', object: slim(before) };
}

function slim(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
