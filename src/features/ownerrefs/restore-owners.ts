import type { JournalEntry } from '../../kernel/journal.ts';
import { refText } from '../../kernel/object.ts';
import { convertUid } from '../../kube/converted-uid.ts';
import type { JournalOwner } from './journal-entries.ts';
import { type OwnersOfKind, type OwnerWorld, ownerPlace, servedAs } from './owner-fate.ts';
import type { OwnerNow } from './owner-patches.ts';

/** The recorded owner as it is there now; of two that are shown under one name that with this UID, if one has it. */
export function ownerNow(owner: JournalOwner, { crdGroup, kinds, back }: OwnerWorld, uidBefore?: string): OwnerNow | undefined {
  const { group, kind, namespace, name } = owner;
  const place = ownerPlace(namespace, name);
  if (group !== crdGroup) {
    const uid = servedAs(kinds[kind], place, uidBefore ?? '');
    const elsewhere =
      underItsStoredName(owner, kinds[kind]) ?? (back && uid === undefined ? underItsFormerName(owner, kinds[kind]) : undefined);
    return elsewhere ?? (uid === undefined ? undefined : { uid });
  }
  const stored = kinds[kind]?.stored?.get(place);
  return stored && { uid: stored.uid, name: stored.storedName };
}

/** A policy that older API servers showed without its prefix, and newer ones show as it is stored (host endpoint notes 4). */
function underItsStoredName({ namespace, name, backingUid }: JournalOwner, kind: OwnersOfKind | undefined): OwnerNow | undefined {
  if (backingUid === undefined || kind?.stored?.get(ownerPlace(namespace, name))?.uid === backingUid) return undefined;
  const stored = [...(kind?.stored?.values() ?? [])].find((one) => one.uid === backingUid);
  if (stored === undefined || stored.name === name || stored.name !== stored.storedName) return undefined;
  const uid = kind?.served?.get(ownerPlace(namespace, stored.name));
  return uid === undefined ? undefined : { uid, name: stored.name };
}

/** Some older releases show a policy with its prefix, so the reference names it so. */
function underItsFormerName({ namespace, name }: JournalOwner, kind: OwnersOfKind | undefined): OwnerNow | undefined {
  const storedName = kind?.stored?.get(ownerPlace(namespace, name))?.storedName;
  const uid = storedName === undefined ? undefined : kind?.served?.get(ownerPlace(namespace, storedName));
  return storedName === undefined || uid === undefined ? undefined : { uid, name: storedName };
}

/** In which way the owner is not the one that the upgrade leads to; undefined if it is. */
export function otherThanExpected(
  entry: JournalEntry,
  owner: JournalOwner,
  now: OwnerNow | undefined,
  world: OwnerWorld,
): string | undefined {
  return otherThanBacked(owner, now, world) ?? otherThanRecorded(entry, owner, now) ?? otherThanStored(owner, now, world);
}

/** `--undo`: nothing has changed yet, so every living owner has the very UID that the reference had. */
export function otherThanBefore(entry: JournalEntry, owner: JournalOwner, now: OwnerNow | undefined): string | undefined {
  const recorded = entry.references[owner.place]?.uid;
  return now === undefined || now.uid === recorded ? undefined : `UID ${now.uid}, the reference had ${recorded}`;
}

/** The object must be the recorded one or the migration's copy of it; else it is another one (§4.8/3; domain §7.2b). */
function otherThanBacked(owner: JournalOwner, now: OwnerNow | undefined, world: OwnerWorld): string | undefined {
  const { backingUid, madeAt } = owner;
  if (now === undefined || backingUid === undefined) return undefined;
  if (now.uid === backingUid || now.uid === convertUid(backingUid) || isStoredAnewSince(owner, world)) return undefined;
  const stored = world.kinds[owner.kind]?.stored?.get(ownerPlace(owner.namespace, owner.name));
  if (stored === undefined) return `UID ${now.uid}, of an object of which nothing is seen stored under this name`;
  const made = madeAt === undefined || stored.madeAt === undefined ? '' : `: made ${stored.madeAt}, that one ${madeAt}`;
  return `UID ${now.uid}, of another policy than the recorded one${made}`;
}

/** True if the recorded object is gone and this is its copy: it has the same creation time. */
function isStoredAnewSince(owner: JournalOwner, { kinds, back }: OwnerWorld): boolean {
  const { kind, namespace, name, backingUid, madeAt } = owner;
  const { stored, hidden } = kinds[kind] ?? {};
  const now = stored?.get(ownerPlace(namespace, name));
  if (backingUid === undefined || now === undefined || now.uid === backingUid) return false;
  const hasItsName = back?.prefix === undefined ? now.name === now.storedName : now.storedName.startsWith(back.prefix);
  if (madeAt === undefined || !hasItsName || now.madeAt !== madeAt) return false;
  return ![...(hidden?.values() ?? [])].some(({ uid }) => uid === backingUid);
}

/** The owner was unreadable before, so the reference may have been dangling: its UID must lead to the present one. */
function otherThanRecorded(entry: JournalEntry, owner: JournalOwner, now: OwnerNow | undefined): string | undefined {
  const recorded = entry.references[owner.place]?.uid;
  if (now === undefined || recorded === undefined || owner.backingUid !== undefined) return undefined;
  return now.uid === recorded || now.uid === convertUid(recorded) ? undefined : `UID ${now.uid}, the reference had ${recorded}`;
}

/**
 * The served UID must be the converted one of the stored object, or after a rollback to an old API server that very one. If not, one reading
 * is out of date, or another API server answers.
 */
function otherThanStored(owner: JournalOwner, now: OwnerNow | undefined, world: OwnerWorld): string | undefined {
  if (now === undefined || owner.group === world.crdGroup || world.keepsUids || !(world.targetConverts || world.back)) return undefined;
  const stored = world.kinds[owner.kind]?.stored?.get(ownerPlace(owner.namespace, owner.name));
  const expected = stored && (world.targetConverts ? convertUid(stored.uid) : stored.uid);
  return expected === undefined || expected === now.uid ? undefined : `UID ${now.uid}, the stored object gives ${expected}`;
}

export function ownerText({ kind, namespace, name }: JournalOwner): string {
  return refText({ kind, name, ...(namespace === undefined ? {} : { namespace }) });
}
