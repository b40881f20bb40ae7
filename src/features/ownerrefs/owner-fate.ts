import { groupOf, type OwnerReference } from '../../kernel/object.ts';
import { convertUid } from '../../kube/converted-uid.ts';
import type { FieldWriter } from '../../kube/managed-fields.ts';
import type { JournalObject, OwnerKnown } from './journal-entries.ts';

/** An object that somebody of the service owns, with its whole list of references. */
export interface OwnedObject {
  readonly object: JournalObject;
  readonly references: readonly OwnerReference[];
  /** UIDs of owners that the object's manifest names, where it was applied by kubectl: applied again, it restores them. */
  readonly appliedOwners?: readonly string[];
  /** Of an object of the v3 API: what is noted beside the stored one, which releases show in their own ways; the same places. */
  readonly noted?: readonly OwnerReference[];
}

/** A stored custom resource, by the name that the service itself gives it. */
export interface StoredOwner {
  readonly name: string;
  readonly storedName: string;
  readonly uid: string;
  /** The policy-name migration will store it again. */
  readonly renamePending: boolean;
  /** A policy that the migration has stored again, under its new name. */
  readonly anew?: boolean;
  /** When the policy was made; the migration keeps it. */
  readonly madeAt?: string;
}

/** The objects of one kind that own something: as the v3 API serves them, and as they are stored. */
export interface OwnersOfKind {
  readonly namespaced: boolean;
  /** UID by `ownerPlace`; undefined if they could not be read. */
  readonly served?: ReadonlyMap<string, string>;
  /** By `ownerPlace` of the name in the v3 API; undefined if they could not be read, or there is no such kind. */
  readonly stored?: ReadonlyMap<string, StoredOwner>;
  /** All UIDs by `ownerPlace`, where the v3 API shows several objects of one name: a reference may name any of them. */
  readonly twins?: ReadonlyMap<string, ReadonlySet<string>>;
  /** By `ownerPlace` of the stored name: what another stored object of the same name in the v3 API hides. */
  readonly hidden?: ReadonlyMap<string, StoredOwner>;
}

/** What the way to the target does to UIDs; decided from releases and options, before anything is read. */
export interface UidRules {
  /** The datastore keeps the UIDs itself (key-value): they are never converted. */
  readonly keepsUids: boolean;
  /** The target release serves converted UIDs. */
  readonly targetConverts: boolean;
  /** The installed release does so already, evaluated by its version; undefined if that is not known. */
  readonly sourceConverts?: boolean;
  /** Policies that are stored under a name with a prefix will be stored again. */
  readonly renames?: boolean;
  /** The target's API server finds a policy only under the name that it is stored under, renamed or not (host endpoint notes 0.5). */
  readonly asksStoredNames?: boolean;
  /**
   * The target shows noted owners of the service with converted UIDs, whichever of its groups the note names. Only the first change of UIDs
   * does that, not its backports (domain §7.2).
   */
  readonly translatesNotes?: boolean;
}

/** What is known of all owners now, and of what the upgrade does to UIDs. */
export interface OwnerWorld extends UidRules {
  readonly apiGroup: string;
  readonly crdGroup: string;
  readonly kinds: Readonly<Record<string, OwnersOfKind>>;
}

/** What is known of an owner before the upgrade. */
export interface OwnerStanding {
  /** The reference names the stored object of the CRD group, not the one of the v3 group. */
  readonly stored: boolean;
  /** UID that the API serves for what the reference names; undefined if there is no such owner. */
  readonly servedUid: string | undefined;
  /** UID of the custom resource behind a v3 object; undefined if it cannot be read or there is none (key-value datastore). */
  readonly backingUid?: string | undefined;
  /** The policy-name migration will store it again. */
  readonly renamePending?: boolean | undefined;
  /** The v3 object is stored under another name than its own, and the target finds it only under that one. */
  readonly unaddressed?: boolean | undefined;
}

/** What the upgrade makes of an owner's UID. */
export type OwnerFate =
  | { readonly fate: 'kept' | 'converted'; readonly uid: string }
  /** Created again: the UID must be read afterwards. */
  | { readonly fate: 're-created' }
  /** There, but not found by its name: garbage collection asks by name, and takes it for gone (host endpoint notes 0.5). */
  | { readonly fate: 'unaddressed' }
  /** The owner keeps its UID, and the new API server shows this reference to it with another. */
  | { readonly fate: 'misread'; readonly uid: string }
  | { readonly fate: 'gone' }
  /** Neither the stored object nor the installed release is known. */
  | { readonly fate: 'unknown' };

/** The UID that an owner will have after the upgrade, as far as it can be known before (§4.8). */
export function uidAfter(owner: OwnerStanding, { keepsUids, targetConverts, sourceConverts }: UidRules): OwnerFate {
  const { stored, servedUid, backingUid } = owner;
  if (servedUid === undefined) return { fate: 'gone' };
  if (owner.renamePending) return { fate: 're-created' };
  if (owner.unaddressed && !stored && !keepsUids) return { fate: 'unaddressed' };
  if (stored || keepsUids || !targetConverts) return { fate: 'kept', uid: servedUid };
  // Comparing both UIDs needs no version: what the service serves is either the stored UID or the converted one.
  const uid = backingUid === undefined && sourceConverts ? servedUid : convertUid(backingUid ?? servedUid);
  if (uid === undefined || (backingUid ?? sourceConverts) === undefined) return { fate: 'unknown' };
  return { fate: uid === servedUid ? 'kept' : 'converted', uid };
}

/** What becomes of one reference at the upgrade. */
export interface ReferenceFate {
  readonly place: number;
  readonly reference: OwnerReference;
  readonly owner: OwnerKnown;
  readonly fate: OwnerFate['fate'];
  /** UID that the API serves for this owner now; undefined if there is none, or if its kind could not be read. */
  readonly servedUid?: string;
  /** The name by which the target's API server finds the owner, where it is not the one of the reference and stays. */
  readonly nameAfter?: string;
  /** Lists show the owner, and no question by this name finds it; looked up only where it matters. */
  readonly isMute?: boolean;
  /** Of a namespaced kind, on a cluster-wide object, which cannot have such an owner: garbage collection ignores it. */
  readonly isIgnored?: boolean;
  /** The upgrade leaves it with an outdated UID: it has to be off then. */
  readonly breaks: boolean;
  /** Who wrote it last; looked up only where something hangs on it, and for the first objects. */
  readonly writtenBy?: FieldWriter;
}

/** An object, and the references of it that name the service's resources. */
export interface OwnedFate {
  readonly owned: OwnedObject;
  readonly fates: readonly ReferenceFate[];
}

export function ownerPlace(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** Evaluates every reference of the object that names a resource of the service (§4.8). */
export function fatesOf(owned: OwnedObject, world: OwnerWorld): OwnedFate {
  const fates = owned.references.flatMap((reference, place) => {
    const group = groupOf(reference.apiVersion);
    if (group !== world.apiGroup && group !== world.crdGroup) return [];
    return [fateOf(owned, reference, place, world)];
  });
  return { owned, fates };
}

function fateOf({ object, noted }: OwnedObject, reference: OwnerReference, place: number, world: OwnerWorld): ReferenceFate {
  const isStored = groupOf(reference.apiVersion) === world.crdGroup;
  const kind = world.kinds[reference.kind];
  const namespace = kind?.namespaced ? object.namespace : undefined;
  const stored = isStored ? byStoredName(kind, namespace, reference.name) : behindServed(kind, namespace, reference);
  const servedUid = isStored ? stored?.uid : servedAs(kind, ownerPlace(namespace, reference.name), reference.uid);
  const wasRead = (isStored ? kind?.stored : kind?.served) !== undefined;
  const unaddressed = world.asksStoredNames && stored && stored.storedName !== reference.name;
  const standing = { stored: isStored, servedUid, backingUid: stored?.uid, renamePending: stored?.renamePending, unaddressed };
  const after: OwnerFate = wasRead ? asShown(uidAfter(standing, world), noted?.[place], world) : { fate: 'unknown' };
  const expectedUid = stored && 'uid' in after ? after.uid : undefined;
  return {
    place,
    reference,
    fate: after.fate,
    owner: {
      name: isStored ? (stored?.name ?? reference.name) : reference.name,
      ...(namespace === undefined ? {} : { namespace }),
      ...knownOf(stored),
      ...(expectedUid === undefined ? {} : { expectedUid }),
    },
    ...(servedUid === undefined ? {} : { servedUid }),
    ...(after.fate === 'unaddressed' ? foundAs(stored) : {}),
    ...(kind?.namespaced && namespace === undefined ? { isIgnored: true } : {}),
    breaks: breaks(reference, after.fate, servedUid, stored?.uid, isStored),
  };
}

/**
 * An owner with an unchanged UID is lost if the target shows the reference with another one. v3.27.5 notes the UIDs it shows, and v3.28 and
 * newer convert what is noted (`ConvertK8sResourceToCalicoResource` of the service).
 */
function asShown(after: OwnerFate, noted: OwnerReference | undefined, { apiGroup, crdGroup, translatesNotes }: OwnerWorld): OwnerFate {
  if (after.fate !== 'kept' || noted === undefined || translatesNotes !== true) return after;
  if (![apiGroup, crdGroup].includes(groupOf(noted.apiVersion)) || convertUid(noted.uid) === after.uid) return after;
  return { fate: 'misread', uid: after.uid };
}

/** What tells the owner from another of its name that somebody makes. */
function knownOf(stored: StoredOwner | undefined): Pick<OwnerKnown, 'backingUid' | 'madeAt'> {
  if (stored === undefined) return {};
  const { uid, madeAt } = stored;
  return { backingUid: uid, ...(madeAt === undefined ? {} : { madeAt }) };
}

/** One that keeps its stored name, and is named by it, is found by it. */
function foundAs(stored: StoredOwner | undefined): Pick<ReferenceFate, 'nameAfter'> {
  return stored !== undefined && stored.name === stored.storedName ? { nameAfter: stored.name } : {};
}

/** UID of the owner that a reference with this UID means: of several of one name, the one that has it. */
export function servedAs(kind: OwnersOfKind | undefined, place: string, uid: string): string | undefined {
  return kind?.twins?.get(place)?.has(uid) ? uid : kind?.served?.get(place);
}

/**
 * The stored object behind it: of two with one v3 name, the one whose UID, converted or not, the reference has. Old servers show a policy
 * without its prefix (host endpoint notes 4), so only the UID may match.
 */
function behindServed(kind: OwnersOfKind | undefined, namespace: string | undefined, reference: OwnerReference): StoredOwner | undefined {
  const { name, uid } = reference;
  const place = ownerPlace(namespace, name);
  const shown = kind?.stored?.get(place);
  const behind = [...(kind?.hidden ?? [])].flatMap(([at, owner]) =>
    owner.name === name && at === ownerPlace(namespace, owner.storedName) ? [owner] : [],
  );
  const isMeant = (one: StoredOwner) => one.uid === uid || convertUid(one.uid) === uid;
  const found = [...(shown ? [shown] : []), ...behind].find(isMeant);
  // Last, for this goes through all of them.
  return found ?? (kind?.served?.has(place) ? [...(kind.stored?.values() ?? [])].find(isMeant) : undefined) ?? shown;
}

function byStoredName(kind: OwnersOfKind | undefined, namespace: string | undefined, storedName: string): StoredOwner | undefined {
  const direct = kind?.stored?.get(ownerPlace(namespace, storedName));
  if (direct?.storedName === storedName) return direct;
  for (const [place, owner] of kind?.stored ?? []) {
    if (owner.storedName === storedName && place === ownerPlace(namespace, owner.name)) return owner;
  }
  return kind?.hidden?.get(ownerPlace(namespace, storedName));
}

const BREAKING: ReadonlySet<OwnerFate['fate']> = new Set(['converted', 're-created', 'unaddressed', 'misread']);

/** True if this upgrade makes the reference dangling, or already has (stored UID, API serves the converted one). */
function breaks(
  { uid }: OwnerReference,
  fate: OwnerFate['fate'],
  servedUid: string | undefined,
  backingUid: string | undefined,
  isStored: boolean,
): boolean {
  if (fate === 'unknown') return !isStored;
  if (servedUid === undefined) return false;
  if (uid === servedUid) return BREAKING.has(fate);
  return !isStored && uid === backingUid && convertUid(uid) === servedUid;
}
