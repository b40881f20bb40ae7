import type { Kind } from '../../kernel/object.ts';

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
