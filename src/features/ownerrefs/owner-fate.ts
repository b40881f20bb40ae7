import { groupOf, type OwnerReference } from '../../kernel/object.ts';
import { convertUid } from '../../kube/converted-uid.ts';
import type { FieldWriter } from '../../kube/managed-fields.ts';
import { POLICY_KINDS } from '../policies/index.ts';
import type { JournalObject, OwnerKnown } from './journal-entries.ts';
import { type Removal, removalOf, type Standing, type Way } from './removal-rule.ts';

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
  /** A policy that the migration stores again, unless somebody holds that. */
  readonly renamePending: boolean;
  /** When the policy was made; the migration keeps it. */
  readonly madeAt?: string;
  /** Only of a rollback: a policy that is stored under its former name again, or one that the old release does not find by its name. */
  readonly former?: 'moves' | 'unfound';
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

/** What is known of all owners now, and of what the upgrade does to UIDs. */
export interface OwnerWorld extends Way {
  readonly apiGroup: string;
  readonly crdGroup: string;
  readonly kinds: Readonly<Record<string, OwnersOfKind>>;
}

/** One reference, whether its owner is there, and whether it is removed before the upgrade. */
export interface ReferenceFate {
  readonly place: number;
  readonly reference: OwnerReference;
  readonly owner: OwnerKnown;
  /** Why it is removed; absent if it stays. */
  readonly removal?: Removal;
  /** UID that the API serves for this owner now; undefined if there is none, or if its kind could not be read. */
  readonly servedUid?: string;
  /** Its kind of owner could not be read. */
  readonly isUnread?: boolean;
  /** Lists may show the owner, a policy, where no question by this name finds it. */
  readonly isDoubtful?: boolean;
  /** Lists show the owner, and no question by this name finds it; looked up only where it matters. */
  readonly isMute?: boolean;
  /** Of a namespaced kind, on a cluster-wide object, which cannot have such an owner: garbage collection ignores it. */
  readonly isIgnored?: boolean;
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
  const found = foundOwner(reference, object.namespace, world);
  const { kind, namespace, stored, servedUid, isUnread, isStored } = found;
  const standing = standingOf(reference, found, world);
  const isNotedAnew = noted === undefined || noted[place]?.uid === stored?.uid;
  const removal = removalOf({ ...standing, isNoted: noted !== undefined, hasNewUid: standing.hasNewUid && isNotedAnew }, world);
  const name = isStored ? (stored?.name ?? reference.name) : reference.name;
  return {
    ...{ place, reference },
    owner: { name, ...(namespace === undefined ? {} : { namespace }), ...knownOf(stored) },
    ...(removal ? { removal } : {}),
    ...(servedUid === undefined ? {} : { servedUid }),
    ...(isUnread ? { isUnread } : {}),
    ...((world.asksStoredNames || world.back?.prefix !== undefined) && standing.isStoredOtherwise && !isStored ? { isDoubtful: true } : {}),
    ...(kind?.namespaced && namespace === undefined ? { isIgnored: true } : {}),
  };
}

/** What a reference names, as far as that could be read. */
function foundOwner(reference: OwnerReference, home: string | undefined, world: OwnerWorld) {
  const { name, uid } = reference;
  const isStored = groupOf(reference.apiVersion) === world.crdGroup;
  const kind = world.kinds[reference.kind];
  const namespace = kind?.namespaced ? home : undefined;
  const stored = isStored ? byStoredName(kind, namespace, name) : behindOf(kind, namespace, reference, world);
  const servedUid = isStored ? stored?.uid : servedAs(kind, ownerPlace(namespace, name), uid);
  const isUnread = (isStored ? kind?.stored : kind?.served) === undefined;
  return { isStored, kind, namespace, stored, servedUid, isUnread };
}

/** Custom resources in a cluster with a key-value store are leftovers: nothing is behind what the v3 API shows. */
function behindOf(kind: OwnersOfKind | undefined, namespace: string | undefined, reference: OwnerReference, { keepsUids }: OwnerWorld) {
  return keepsUids ? undefined : behindServed(kind, namespace, reference);
}

function standingOf(
  reference: OwnerReference,
  { isStored, stored, servedUid, isUnread }: ReturnType<typeof foundOwner>,
  { targetConverts, back }: OwnerWorld,
): Standing {
  const { kind, name, uid } = reference;
  const converted = stored && convertUid(stored.uid);
  // Where nobody sees under which name a policy is stored, it may be another one.
  const isOther = back
    ? stored === undefined || stored.former === 'moves' || (!isStored && stored.former === 'unfound')
    : stored?.renamePending !== false || (!isStored && stored.storedName !== name);
  return {
    ...{ isStored, isNoted: false, isAlive: isUnread ? undefined : uid === servedUid },
    hasNewUid: uid === (back && !targetConverts ? stored?.uid : converted),
    isStoredOtherwise: POLICY_KINDS.has(kind) && isOther,
    namesStoredUid: uid === stored?.uid && converted !== undefined && converted !== uid && [uid, converted].includes(servedUid ?? ''),
  };
}

/** What tells the owner from another of its name that somebody makes. */
function knownOf(stored: StoredOwner | undefined): Pick<OwnerKnown, 'backingUid' | 'madeAt'> {
  if (stored === undefined) return {};
  const { uid, madeAt } = stored;
  return { backingUid: uid, ...(madeAt === undefined ? {} : { madeAt }) };
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
