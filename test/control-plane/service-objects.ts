import type { ObjectMeta, OwnerReference } from '../../src/kernel/object.ts';
import type { ApiObject } from './api.ts';

/** How one release of the service's API server shows stored objects. */
export interface ServerRule {
  /** v3.28 and newer (v3.27.5 as well): the stored UID with the bits of most bytes reversed. Older: the stored UID. */
  readonly convertsUids: boolean;
  /** Up to v3.31: a policy of the tier `default` is looked for under `default.NAME`. Newer: under its own name. */
  readonly prefixesPolicies: boolean;
  /**
   * v3.28 and newer: owners of the service are noted as the stored objects (`ConvertCalicoResourceToK8sResource`), and shown with converted
   * UIDs, whichever group is noted. Older, v3.27.5 too: noted and shown as they were given.
   */
  readonly translatesOwners: boolean;
}

export const OLD_SERVER: ServerRule = { convertsUids: false, prefixesPolicies: true, translatesOwners: false };
/** v3.27.5 alone. */
export const BETWEEN_SERVER: ServerRule = { convertsUids: true, prefixesPolicies: true, translatesOwners: false };
/** v3.28 to v3.31. */
export const LATER_SERVER: ServerRule = { convertsUids: true, prefixesPolicies: true, translatesOwners: true };
export const NEW_SERVER: ServerRule = { convertsUids: true, prefixesPolicies: false, translatesOwners: true };

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

/** What the service wrote beside the object; undefined for one that a person made past the service. */
export function storedOf({ metadata }: { readonly metadata: ObjectMeta }, group: string): Partial<ObjectMeta> | undefined {
  const text = metadata.annotations?.[`${group}/metadata`];
  return text === undefined ? undefined : (JSON.parse(text) as Partial<ObjectMeta>);
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
  const { [`${group}/metadata`]: _hidden, ...annotations } = object.metadata.annotations ?? {};
  const noted = storedOf(object, group);
  const { ownerReferences: listed, ...metadata } = object.metadata;
  // What the note says hides what the stored object itself says; an empty list is none.
  const owners = noted === undefined ? listed : ownersShown(noted, group, rule);
  return {
    ...object,
    apiVersion: `${group}/v3`,
    metadata: {
      ...metadata,
      name: servedName(object, group, plural),
      uid: rule.convertsUids ? servedUid(metadata.uid) : metadata.uid,
      labels: { ...metadata.labels, ...noted?.labels },
      annotations,
      ...(owners?.length ? { ownerReferences: owners } : {}),
      creationTimestamp: noted?.creationTimestamp ?? metadata.creationTimestamp,
    },
  };
}

function ownersShown({ ownerReferences }: Partial<ObjectMeta>, group: string, { translatesOwners }: ServerRule) {
  const isOurs = ({ apiVersion }: OwnerReference) => [`${group}/v3`, `crd.${group}/v1`].includes(apiVersion);
  const shown = (one: OwnerReference) => (isOurs(one) ? { ...one, apiVersion: `${group}/v3`, uid: servedUid(one.uid) } : one);
  return translatesOwners ? ownerReferences?.map(shown) : ownerReferences;
}

/** What such a server stores of an object that it was given; `before` is the stored one, if there is one. */
export function storedObject(given: ApiObject, group: string, plural: string, rule: ServerRule, before?: ApiObject): object {
  const { name, namespace, labels, annotations, ownerReferences } = given.metadata;
  const isOurs = ({ apiVersion }: OwnerReference) => apiVersion === `${group}/v3`;
  const noted = (one: OwnerReference) =>
    isOurs(one) && rule.translatesOwners ? { ...one, apiVersion: `crd.${group}/v1`, uid: servedUid(one.uid) } : one;
  const note = {
    ...(before && storedOf(before, group)),
    ...(isPolicy(plural) && rule.translatesOwners ? { name } : {}),
    creationTimestamp: given.metadata.creationTimestamp ?? new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    ownerReferences: ownerReferences?.map(noted),
  };
  const {
    uid,
    resourceVersion,
    name: storedName = isPolicy(plural) && rule.prefixesPolicies ? `${PREFIX}${name}` : name,
  } = before?.metadata ?? {};
  return {
    ...given,
    apiVersion: `crd.${group}/v1`,
    metadata: {
      ...{ name: storedName, namespace, uid, resourceVersion, labels },
      annotations: { ...annotations, [`${group}/metadata`]: JSON.stringify(note) },
    },
  };
}
