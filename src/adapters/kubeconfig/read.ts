import type { ClusterEntry, ContextEntry, ExecEntry, KubeconfigDocument, UserEntry } from './connection.ts';
import { clearly, type PlainValue, Unclear } from './plain.ts';

type Fields = Readonly<Record<string, PlainValue>>;
type Read<T> = (value: PlainValue) => T;

/**
 * A file's content as `kubectl config view --raw -o json` prints it. Undefined if kubectl might not know it or not print it unchanged: a
 * dropped key, a number for text, a repeated name.
 */
export function readDocument(value: PlainValue | undefined): KubeconfigDocument | undefined {
  if (value === undefined) return undefined;
  return clearly(() => {
    const { apiVersion, kind, preferences, ...rest } = mapping(value);
    if (apiVersion !== 'v1' || kind !== 'Config' || Object.keys(mapping(preferences ?? {})).length > 0) throw new Unclear();
    const {
      clusters,
      users,
      contexts,
      'current-context': current,
    } = only(rest, {
      clusters: entries('cluster', clusterEntry),
      users: entries('user', userEntry),
      contexts: entries('context', contextEntry),
      'current-context': text,
    });
    return { clusters: clusters ?? null, users: users ?? null, contexts: contexts ?? null, 'current-context': current ?? '' };
  });
}

/** kubectl prints the entries by name, and takes no name twice. Null for none. */
export function byName<Entry extends { readonly name: string }>(all: readonly Entry[]): readonly Entry[] | null {
  if (new Set(all.map(({ name }) => name)).size < all.length) throw new Unclear();
  return all.length === 0 ? null : all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The fields by their readers; a key without one makes the document unclear. */
function only<Readers extends Readonly<Record<string, Read<unknown>>>>(
  fields: Fields,
  readers: Readers,
): { [key in keyof Readers]?: Exclude<ReturnType<Readers[key]>, undefined> } {
  const found = Object.entries(fields).flatMap(([key, value]) => {
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    if (!read) throw new Unclear();
    const entry = read(value);
    return entry === undefined ? [] : [[key, entry] as const];
  });
  return Object.fromEntries(found) as { [key in keyof Readers]?: Exclude<ReturnType<Readers[key]>, undefined> };
}

function mapping(value: PlainValue): Fields {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Unclear();
  return value as Fields;
}

function list(value: PlainValue): readonly PlainValue[] {
  if (!Array.isArray(value)) throw new Unclear();
  return value;
}

/** kubectl omits empty text in some places only, so only text that is not empty is clear. */
export function text(value: PlainValue): string {
  if (typeof value !== 'string' || value === '') throw new Unclear();
  return value;
}

/** The last four letters of exact base64: they alone can be written in two ways. */
const BASE64_END = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;
const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Exact base64: kubectl refuses anything less, and prints it again. */
export function data(value: PlainValue): string {
  const written = text(value);
  if (written.length % 4 !== 0 || !BASE64_END.test(written.slice(-4)) || NOT_BASE64.test(written.slice(0, -4))) throw new Unclear();
  return written;
}

/** False is what is left out. */
function flag(value: PlainValue): true | undefined {
  if (typeof value !== 'boolean') throw new Unclear();
  return value || undefined;
}

function entries<Key extends string, Entry>(key: Key, read: (fields: Fields) => Entry) {
  return (value: PlainValue) => {
    const all = list(value).map((item) => {
      const { name, [key]: entry, ...rest } = mapping(item);
      if (Object.keys(rest).length > 0) throw new Unclear();
      return { name: text(name ?? null), [key]: read(mapping(entry ?? null)) } as { readonly name: string } & {
        readonly [key in Key]: Entry;
      };
    });
    return byName(all) ?? undefined;
  };
}

function clusterEntry(fields: Fields): ClusterEntry {
  text(fields.server ?? null);
  return only(fields, {
    server: text,
    'tls-server-name': text,
    'insecure-skip-tls-verify': flag,
    'certificate-authority': text,
    'certificate-authority-data': data,
    'proxy-url': text,
    'disable-compression': flag,
  });
}

function contextEntry(fields: Fields): ContextEntry {
  for (const name of [fields.cluster, fields.user]) text(name ?? null);
  return only(fields, { cluster: text, user: text, namespace: text });
}

function userEntry(fields: Fields): UserEntry {
  return only(fields, {
    token: text,
    tokenFile: text,
    username: text,
    password: text,
    'client-certificate': text,
    'client-certificate-data': data,
    'client-key': text,
    'client-key-data': data,
    as: text,
    'as-uid': text,
    exec: (value: PlainValue) => execEntry(mapping(value)),
  });
}

/** As kubectl completes it: a list that is missing is printed as null, and v1beta1 has a default mode. */
function execEntry(fields: Fields): ExecEntry {
  const isBeta = fields.apiVersion === 'client.authentication.k8s.io/v1beta1';
  if (!isBeta && fields.apiVersion !== 'client.authentication.k8s.io/v1') throw new Unclear();
  const found = only(fields, {
    apiVersion: text,
    command: text,
    args: orNull((value) => list(value).map(text)),
    env: orNull((value) => list(value).map(variable)),
    provideClusterInfo: flag,
    interactiveMode: text,
  });
  const command = text(fields.command ?? null);
  const interactiveMode = isBeta && found.interactiveMode === undefined ? 'IfAvailable' : text(fields.interactiveMode ?? null);
  return { args: null, env: null, ...found, command, interactiveMode, provideClusterInfo: found.provideClusterInfo ?? false };
}

function variable(value: PlainValue): { readonly name: string; readonly value: string } {
  const { name, value: content, ...rest } = mapping(value);
  if (Object.keys(rest).length > 0) throw new Unclear();
  return { name: text(name ?? null), value: content === '' ? '' : text(content ?? null) };
}

function orNull<T>(read: Read<T>): Read<T | null> {
  return (value) => (value === null ? null : read(value));
}
