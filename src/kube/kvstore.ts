import type { KubeObject, ObjectRef } from '../kernel/object.ts';
import type { StoreCertificates } from '../kernel/ports.ts';
import { secretMountsOf } from './workload.ts';

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
export function unmountedPaths(paths: readonly string[], documents: readonly KubeObject[], secret: string): readonly string[] {
  const workloads = documents.filter(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment');
  if (workloads.length === 0) return [];
  const mounts = workloads.flatMap((one) => secretMountsOf(one, secret));
  return paths.filter((path) => path !== '' && !mounts.some((mount) => path.startsWith(`${mount.replace(/\/$/, '')}/`)));
}

/** The certificates that these paths mean, from the Secret's values (base64). */
export function certificatesOf(paths: readonly string[], values: Readonly<Record<string, string>>): StoreCertificates {
  const [ca, cert, key] = paths.map((path) => values[secretKeyOf(path)]).map((text) => (text ? atob(text) : undefined));
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
}

const textOf = (value: unknown): string => String(value ?? '');
