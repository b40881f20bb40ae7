import { isRecord } from '../kernel/json.ts';
import { groupOf, type Kind, type KubeObject } from '../kernel/object.ts';
import type { ListOptions, WatchUpdate } from '../kernel/ports.ts';
import { withoutManagers } from '../kube/managed-fields.ts';
import type { Change, Store } from './store.ts';

/** What is there, then every change without a gap, until the signal aborts. */
export async function* watchStore(
  store: Store,
  kind: Kind,
  options: ListOptions & { readonly signal: AbortSignal },
): AsyncGenerator<WatchUpdate> {
  const { signal } = options;
  if (signal.aborted) return;
  const there = store.list(kind).filter((one) => isSelected(one, options));
  const queue: WatchUpdate[] = [{ type: 'snapshot', items: there.map(withoutManagers) }];
  let wake: () => void = () => undefined;
  const unlisten = store.listen((change) => {
    const update = updateOf(change, kind, options);
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
    unlisten();
    signal.removeEventListener('abort', onAbort);
  }
}

/** An object that a selector no longer matches has gone, for that watch. */
function updateOf({ kind: where, before, after }: Change, kind: Kind, options: ListOptions): WatchUpdate | undefined {
  if (where.plural !== kind.plural || where.group !== kind.group) return undefined;
  if (after && isSelected(after, options)) return { type: 'changed', object: withoutManagers(after) };
  return before && isSelected(before, options) ? { type: 'deleted', object: withoutManagers(before) } : undefined;
}

type Labels = Readonly<Record<string, string>>;

/** Namespace, owners, label selector and field selector of a list or watch. */
export function isSelected(object: KubeObject, { namespace, labelSelector = '', fieldSelector = '', ownedBy }: ListOptions): boolean {
  if (ownedBy && !object.metadata.ownerReferences?.some(({ apiVersion }) => ownedBy.includes(groupOf(apiVersion)))) return false;
  if (namespace !== undefined && object.metadata.namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return matchesLabels(object.metadata.labels ?? {}, labelSelector) && matchesFields(object, fieldSelector);
}

/** `a=b,c in (d,e),!f`: every form that the API knows. */
function matchesLabels(labels: Labels, selector: string): boolean {
  const requirements = selector.split(/,(?![^(]*\))/).map((one) => one.trim());
  return requirements.every((one) => one === '' || matchesOne(labels, one));
}

function matchesOne(labels: Labels, requirement: string): boolean {
  const among = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(requirement);
  if (among) {
    const [, key = '', how, values = ''] = among;
    const found = values.split(',').some((value) => value.trim() === labels[key]);
    return how === 'in' ? found : !found;
  }
  const [, key = '', unequal, value] = /^([^=!]+)(!)?={1,2}(.*)$/.exec(requirement) ?? [];
  if (value !== undefined) return (labels[key] === value) !== (unequal === '!');
  return requirement.startsWith('!') ? !(requirement.slice(1) in labels) : requirement in labels;
}

/** `spec.nodeName=a,metadata.name!=b`. */
function matchesFields(object: KubeObject, selector: string): boolean {
  return selector.split(',').every((one) => {
    const [, path, unequal, value] = /^([^=!]+)(!)?={1,2}(.*)$/.exec(one) ?? [];
    if (path === undefined) return true;
    const found = path.split('.').reduce<unknown>((inner, field) => (isRecord(inner) ? inner[field] : undefined), object);
    return (String(found ?? '') === value) !== (unequal === '!');
  });
}
