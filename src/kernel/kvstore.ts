import type { KubeObject, ObjectRef } from './object.ts';

/** What one endpoint of the key-value store answered. `unreached`: nothing, which from here may mean nothing. */
export interface StoreHealth {
  readonly endpoint: string;
  readonly state: 'healthy' | 'unhealthy' | 'refused' | 'unreached';
  /** The answer, or why there was none; empty if healthy. */
  readonly because: string;
}

/** PEM texts; absent where the store is used without TLS. Never written or shown. */
export interface StoreCertificates {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** How the agents of the target will reach the key-value store (§4.5/1). */
export interface StoreSettings {
  /** The ConfigMap that says it. */
  readonly ref: ObjectRef;
  readonly endpoints: string;
  /** Paths of CA, certificate and key in the agents' containers; empty texts where none is set. */
  readonly paths: readonly string[];
}

/** Addresses of a comma list. */
export function endpointsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** Why a comma list is no list of endpoints; undefined if it is one. */
export function endpointsProblem(text: string): string | undefined {
  const all = endpointsOf(text);
  if (all.length === 0) return 'no endpoint is named';
  // Agents and the CLI take the text between two commas as it stands.
  if (/\s/.test(text)) return `it has blanks, which become part of an address: write ${all.join(',')}`;
  const bad = all.find((one) => !/^https?:\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}\/?$/.test(one));
  if (bad !== undefined) return `${bad} is not an endpoint: write https://HOST:PORT`;
  const schemes = new Set(all.map((one) => one.slice(0, one.indexOf(':'))));
  return schemes.size > 1 ? 'http and https are mixed' : undefined;
}

/** The ConfigMap among these objects that names the endpoints; undefined without one. */
export function storeSettings(
  documents: readonly KubeObject[],
  endpointsKey: string,
  tlsKeys: readonly string[],
): StoreSettings | undefined {
  for (const { apiVersion, kind, metadata, data } of documents) {
    // In the user's own file a key may stand without a value: the server takes that for an empty text.
    const values = data as Readonly<Record<string, unknown>> | null | undefined;
    const endpoints = kind === 'ConfigMap' ? values?.[endpointsKey] : undefined;
    if (endpoints === undefined) continue;
    const ref = { apiVersion, kind, name: metadata.name, ...(metadata.namespace ? { namespace: metadata.namespace } : {}) };
    return { ref, endpoints: textOf(endpoints), paths: tlsKeys.map((key) => textOf(values?.[key])) };
  }
  return undefined;
}

/** Paths are those in the agents' containers; their last parts are the keys of the Secret. */
export function secretKeyOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Certificate paths outside every mount of the Secret: files of the hosts. Without a mounting workload there are none. */
export function hostPathsOf(paths: readonly string[], documents: readonly KubeObject[], secret: string): readonly string[] {
  const mounts = documents.flatMap((one) => mountsOf(one, secret));
  const isMounted = documents.some((one) => podSpecOf(one) !== undefined);
  if (!isMounted) return [];
  return paths.filter((path) => path !== '' && !mounts.some((mount) => path.startsWith(`${mount.replace(/\/$/, '')}/`)));
}

interface PodSpec {
  readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName?: string } }[];
  readonly containers?: readonly { readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[] }[];
}

function podSpecOf(object: KubeObject): PodSpec | undefined {
  const { template } = (object.spec ?? {}) as { readonly template?: { readonly spec?: PodSpec } };
  return ['DaemonSet', 'Deployment'].includes(object.kind) ? template?.spec : undefined;
}

function mountsOf(object: KubeObject, secret: string): readonly string[] {
  const { volumes = [], containers = [] } = podSpecOf(object) ?? {};
  const names = new Set(volumes.filter((one) => one.secret?.secretName === secret).map(({ name }) => name));
  return containers.flatMap(({ volumeMounts = [] }) =>
    volumeMounts.filter(({ name }) => names.has(name)).map(({ mountPath }) => mountPath),
  );
}

/** The certificates that these paths mean, from the Secret's values (base64). */
export function certificatesOf(paths: readonly string[], values: Readonly<Record<string, string>>): StoreCertificates {
  const [ca, cert, key] = paths.map((path) => values[secretKeyOf(path)]).map((text) => (text ? atob(text) : undefined));
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
}

/** True if the address means the machine that uses it. */
export function isLocalEndpoint(endpoint: string): boolean {
  return /^https?:\/\/(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0|\[::\])(:|\/|$)/i.test(endpoint);
}

/** True if every address of one list is in the other: a CLI may be given fewer of them. */
export function sameEndpoints(some: string, all: string): boolean {
  const plain = (text: string) => endpointsOf(text).map((one) => one.replace(/\/$/, '').toLowerCase());
  const known = new Set(plain(all));
  const named = plain(some);
  return named.length > 0 && named.every((one) => known.has(one));
}

const textOf = (value: unknown): string => String(value ?? '');

/** The documents with these endpoints in the ConfigMap that names them. */
export function withEndpoints(documents: readonly KubeObject[], endpointsKey: string, endpoints: string): readonly KubeObject[] {
  return documents.map((one) => {
    const data = one.data as Readonly<Record<string, string>> | undefined;
    if (one.kind !== 'ConfigMap' || data?.[endpointsKey] === undefined) return one;
    return { ...one, data: { ...data, [endpointsKey]: endpoints } };
  });
}
