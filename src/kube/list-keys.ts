import { isRecord } from '../kernel/json.ts';

/** How the server identifies list items: by these fields (an absent one has its default), each scalar once, or as one value. */
export type SchemaRule = { readonly keys: readonly string[]; readonly defaults: Readonly<Record<string, unknown>> } | 'set' | 'atomic';

/** Rules that outlive the server's answer: by `apiVersion kind`, then by the path of the list. */
export type KeptRules = Readonly<Record<string, Readonly<Record<string, SchemaRule>>>>;

/**
 * How list items are identified: by these fields together; `set`: each scalar value once; `atomic`: the list is one value. From
 * x-kubernetes-list-type and list-map-keys of the built-in kinds.
 */
export type ListRule = readonly string[] | 'set' | 'atomic';

/** By path of field names: `spec.template.spec.containers.ports`. */
export type KindRules = ReadonlyMap<string, SchemaRule>;

/** By `apiVersion kind`. What is not in it is identified by the table here. */
export type ListRules = ReadonlyMap<string, KindRules>;

const RULES: Readonly<Record<string, ListRule>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  imagePullSecrets: ['name'],
  secrets: ['name'],
  webhooks: ['name'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  resourceClaims: ['name'],
  claims: ['name'],
  matchConditions: ['name'],
  schedulingGates: ['name'],
  conditions: ['type'],
  ownerReferences: ['uid'],
  finalizers: 'set',
};

/** The rules for an object of this kind. */
export function rulesOf(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  rules?: ListRules,
): KindRules | undefined {
  return rules?.get(`${apiVersion} ${kind}`);
}

/** What stands for a key field that may be left out. */
export const KEY_DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP' };

/** Merge keys of server-side apply for a list of that name; `ports` are a container's unless the item is a Service's. */
export function mergeKeys(listName: string, item?: unknown): ListRule {
  if (listName === 'ports') return isRecord(item) && 'port' in item ? ['port', 'protocol'] : ['containerPort', 'protocol'];
  return Object.hasOwn(RULES, listName) ? (RULES[listName] ?? 'atomic') : 'atomic';
}

/** Lists that the API replaces whole, yet in which the user sees single items. */
const READING_KEYS: Readonly<Record<string, (item: Readonly<Record<string, unknown>>) => readonly unknown[]>> = {
  versions: ({ name }) => [name],
  additionalPrinterColumns: ({ name }) => [name],
  subjects: ({ kind, namespace, name }) => (namespace === undefined ? [kind, name] : [kind, namespace, name]),
};

const SCALARS: readonly string[] = ['string', 'number', 'boolean'];

/** The name of an item in its list, as in `containers[calico-node]` or `ports[443/TCP]`; undefined without one. */
export function keyOfItem(listName: string, item: unknown): string | undefined {
  if (!isRecord(item)) return undefined;
  const parts = keyParts(listName, item);
  return parts && parts.length > 0 && parts.every((part) => SCALARS.includes(typeof part)) ? parts.map(String).join('/') : undefined;
}

/** The fields of an item that its key already tells. */
export function keyFields(listName: string, item: unknown): readonly string[] {
  const rule = mergeKeys(listName, item);
  if (typeof rule !== 'string') return rule;
  return Object.hasOwn(READING_KEYS, listName) ? ['kind', 'namespace', 'name'] : [];
}

/** Items by key, in order; undefined if one has no key or shares its key: then the list is one value. */
export function itemsByKey(listName: string, list: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const items = new Map<string, unknown>();
  for (const item of list) {
    const key = keyOfItem(listName, item);
    if (key === undefined || items.has(key)) return undefined;
    items.set(key, item);
  }
  return items;
}

function keyParts(listName: string, item: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const rule = mergeKeys(listName, item);
  if (typeof rule !== 'string') return rule.map((field) => item[field] ?? KEY_DEFAULTS[field]);
  return Object.hasOwn(READING_KEYS, listName) ? READING_KEYS[listName]?.(item) : undefined;
}
