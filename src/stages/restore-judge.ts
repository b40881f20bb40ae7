import type { LeftAlone } from '../checks/owner-facts.ts';
import type { GuardedPatch } from '../core/action.ts';
import type { Acceptance, Context } from '../core/context.ts';
import { refText } from '../core/object.ts';
import { type OwnerWorld, ownerPlace } from '../core/owner-fate.ts';
import { entryKey, type JournalEntry, type JournalOwner, type LiveReferences } from '../core/owner-journal.ts';
import type { Changed, PlaceReport } from '../core/owner-patches.ts';
import { type OwnerNow, restorePatch } from '../core/owner-restore.ts';
import { convertUid } from '../core/owner-uid.ts';
import { ownerKey } from './mute-owners.ts';
import { POLICY_KINDS } from './owner-world.ts';
import type { readLive } from './restore-live.ts';

/** What is there now. */
interface Seen {
  readonly live: Awaited<ReturnType<typeof readLive>>['found'];
  readonly world: OwnerWorld;
  readonly mute: ReadonlySet<string>;
}

/** What can be put back, and why the rest cannot: by the journal's entries and what is there now (§4.8/3). */
export function judgeEntries(entries: readonly JournalEntry[], { live, world, mute }: Seen, { options }: Context) {
  const patches: GuardedPatch[] = [];
  const left: LeftOver = { ownerGone: [], changed: [], unaddressed: [], others: new Map() };
  const manifests: LeftAlone[] = [];
  const blocking = new Map<string, JournalOwner>();
  let outstanding = 0;
  for (const entry of entries) {
    const now = live.get(entryKey(entry));
    if (now === undefined) {
      left.changed.push(leftAlone(entry, 'it no longer exists'));
      continue;
    }
    const refused = new Set<string>();
    const { ops, changed: reports } = restorePatch(entry, now, (owner) => {
      const found = ownerNow(owner, world);
      const name = ownerText(owner);
      const other = options.undo ? undefined : otherThanExpected(entry, owner, found, world);
      if (other) left.others.set(name, other);
      const isRefused = found !== undefined && (mute.has(ownerKey(owner)) || (other !== undefined && !isAccepted(options.accept, name)));
      if (isRefused) refused.add(ownerKey(owner));
      return isRefused ? undefined : found;
    });
    for (const report of reports) sortReport(entry, report, mute, left);
    manifests.push(...oldManifest(entry, now));
    if (ops.length > 0 || refused.size > 0) outstanding += 1;
    if (ops.length === 0) continue;
    patches.push({ target: entry.object, patch: ops, uid: entry.object.uid });
    for (const owner of entry.owners)
      if (entry.references[owner.place]?.blockOwnerDeletion) blocking.set(`${owner.group}/${owner.kind}`, owner);
  }
  const { others, ...rest } = left;
  const otherOwners = [...others].map(([text, detail]) => ({ text, detail }));
  return { patches, ...rest, manifests, otherOwners, outstanding, blocking: [...blocking.values()] };
}

/** Its manifest, applied again, would bring a UID of before back. */
function oldManifest(entry: JournalEntry, { appliedOwners = [] }: LiveReferences): readonly LeftAlone[] {
  return entry.owners.flatMap((owner) => {
    const uid = entry.references[owner.place]?.uid;
    if (uid === undefined || !appliedOwners.includes(uid)) return [];
    return [leftAlone(entry, `its manifest names ${ownerText(owner)} with UID ${uid}`)];
  });
}

function ownerNow({ group, kind, namespace, name }: JournalOwner, { crdGroup, kinds }: OwnerWorld): OwnerNow | undefined {
  const place = ownerPlace(namespace, name);
  if (group !== crdGroup) {
    const uid = kinds[kind]?.served?.get(place);
    return uid === undefined ? undefined : { uid };
  }
  const stored = kinds[kind]?.stored?.get(place);
  return stored && { uid: stored.uid, name: stored.storedName };
}

function otherThanExpected(entry: JournalEntry, owner: JournalOwner, now: OwnerNow | undefined, world: OwnerWorld): string | undefined {
  return otherThanComputed(owner, now) ?? otherThanRecorded(entry, owner, now) ?? otherThanStored(owner, now, world);
}

/** Policies are stored anew by the migration: their UID must be read (domain §7.2b). */
function otherThanComputed({ kind, expectedUid }: JournalOwner, now: OwnerNow | undefined): string | undefined {
  if (expectedUid === undefined || now === undefined || POLICY_KINDS.has(kind) || now.uid === expectedUid) return undefined;
  return `UID ${now.uid}, computed was ${expectedUid}`;
}

/** Where the owner could not be read before, nobody knows whether the reference was alive: its own UID must lead to the present one. */
function otherThanRecorded(entry: JournalEntry, owner: JournalOwner, now: OwnerNow | undefined): string | undefined {
  const recorded = entry.references[owner.place]?.uid;
  if (now === undefined || recorded === undefined || owner.expectedUid !== undefined || owner.backingUid !== undefined) return undefined;
  return now.uid === recorded || now.uid === convertUid(recorded) ? undefined : `UID ${now.uid}, the reference had ${recorded}`;
}

/** Two readings that must agree: the served UID is the converted one of what is stored. If not, one of them is out of date. */
function otherThanStored(owner: JournalOwner, now: OwnerNow | undefined, world: OwnerWorld): string | undefined {
  if (now === undefined || owner.group === world.crdGroup || world.keepsUids || !world.targetConverts) return undefined;
  const stored = world.kinds[owner.kind]?.stored?.get(ownerPlace(owner.namespace, owner.name));
  const expected = stored && convertUid(stored.uid);
  return expected === undefined || expected === now.uid ? undefined : `UID ${now.uid}, the stored object gives ${expected}`;
}

function isAccepted(accept: readonly Acceptance[], subject: string): boolean {
  return accept.some((one) => one.check === 'NS-746' && (one.subject === undefined || one.subject === subject));
}

function ownerText({ kind, namespace, name }: JournalOwner): string {
  return refText({ kind, name, ...(namespace === undefined ? {} : { namespace }) });
}

const TEXTS: Readonly<Record<Changed, string>> = {
  'other-object': 'another object has its name now',
  'other-flags': 'the reference is there with other flags',
  'put-back-otherwise': 'somebody put it back with other flags',
  'old-one-there': 'the reference with the old UID is there: take it off again',
  'other-controller': 'another reference is its controller now',
  'owner-gone': 'the owner no longer exists',
  'same-owner-twice': 'an earlier reference names the same owner',
};

interface LeftOver {
  readonly ownerGone: LeftAlone[];
  readonly changed: LeftAlone[];
  readonly unaddressed: LeftAlone[];
  /** Owners with another UID than expected, by their names. */
  readonly others: Map<string, string>;
}

function sortReport(entry: JournalEntry, { place, changed: why }: PlaceReport, mute: ReadonlySet<string>, into: LeftOver): void {
  const owner = entry.owners.find((one) => one.place === place);
  const name = owner ? ownerText(owner) : '';
  if (why === 'owner-gone' && owner && mute.has(ownerKey(owner))) {
    into.unaddressed.push(leftAlone(entry, `owner ${name}: it is stored under its old name, and not found by this one`));
    return;
  }
  // Said once, for the owner itself.
  if (why === 'owner-gone' && into.others.has(name)) return;
  const left = leftAlone(entry, `owner ${name}: ${TEXTS[why]}`);
  if (why === 'owner-gone') into.ownerGone.push(left);
  else into.changed.push(left);
}

function leftAlone({ object: { plural: _, ...object } }: JournalEntry, detail: string): LeftAlone {
  return { object, text: refText(object), detail };
}
