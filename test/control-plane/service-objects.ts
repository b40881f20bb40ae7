import type { ApiObject } from './api.ts';

/** How one release of the service's API server shows stored objects. */
export interface ServerRule {
  /** v3.28 and newer (v3.27.5 as well): the stored UID with the bits of most bytes reversed. Older: the stored UID. */
  readonly convertsUids: boolean;
  /** Up to v3.31: a policy of the tier `default` is looked for under `default.NAME`. Newer: under its own name. */
  readonly prefixesPolicies: boolean;
}

export const OLD_SERVER: ServerRule = { convertsUids: false, prefixesPolicies: true };
export const NEW_SERVER: ServerRule = { convertsUids: true, prefixesPolicies: false };

/** Kinds whose objects of the tier `default` are stored under another name up to v3.31. */
export const POLICIES = ['globalnetworkpolicies', 'networkpolicies', 'stagedglobalnetworkpolicies', 'stagednetworkpolicies'] as const;
export const PREFIX = 'default.';

export const isPolicy = (plural: string): boolean => POLICIES.some((one) => one === plural);

/**
 * UID that the newer servers serve. Written anew rather than taken from the program: what a test compares with must not
 * be what it tries.
 */
export function servedUid(stored: string): string {
  const bytes = Buffer.from(stored.replaceAll('-', ''), 'hex');
  const turned = bytes.map((byte, place) => (place === 6 || place === 8 ? byte : turn(byte)));
  return Buffer.from(turned)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const turn = (byte: number): number => Number.parseInt([...byte.toString(2).padStart(8, '0')].reverse().join(''), 2);

interface Stored {
  readonly name?: string;
  readonly labels?: object;
}

const annotationsOf = ({ metadata }: ApiObject) => (metadata.annotations ?? {}) as Readonly<Record<string, string>>;

/** What the service wrote beside the object; undefined for one that a person made past the service. */
function storedOf(object: ApiObject, group: string): Stored | undefined {
  const text = annotationsOf(object)[`${group}/metadata`];
  return text === undefined ? undefined : (JSON.parse(text) as Stored);
}

/** The name that the service's users see. */
export function servedName(object: ApiObject, group: string, plural: string): string {
  const { name } = object.metadata;
  if (!isPolicy(plural)) return name;
  const stored = storedOf(object, group);
  if (stored === undefined) return name;
  const { tier = 'default' } = (object.spec ?? {}) as { readonly tier?: string };
  return stored.name ?? (tier === 'default' && name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);
}

/** The stored object as the service's API server shows it. */
export function servedObject(object: ApiObject, group: string, plural: string, rule: ServerRule): ApiObject {
  const { [`${group}/metadata`]: _hidden, ...annotations } = annotationsOf(object);
  const { metadata } = object;
  return {
    ...object,
    apiVersion: `${group}/v3`,
    metadata: {
      ...metadata,
      name: servedName(object, group, plural),
      uid: rule.convertsUids ? servedUid(metadata.uid) : metadata.uid,
      labels: { ...(metadata.labels as object | undefined), ...storedOf(object, group)?.labels },
      annotations,
    },
  };
}
