import type { GuardedPatch } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { JournalEntry } from '../../kernel/journal.ts';
import { acceptsSubject } from '../../kernel/judge.ts';
import { plainRef, refText } from '../../kernel/object.ts';
import { entryKey, type JournalOwner, kindOf, type LiveReferences, notedBack } from './journal-entries.ts';
import { type LeftAlone, ownerKey } from './owner-facts.ts';
import type { OwnerWorld } from './owner-fate.ts';
import { type Changed, type OwnerNow, type PlaceReport, restorePatch } from './owner-patches.ts';
import type { readLive } from './restore-live.ts';
import { otherThanBefore, otherThanExpected, ownerNow, ownerText } from './restore-owners.ts';
import { kindText } from './survey.ts';
import { groupKind } from './world.ts';

/** What is there now. */
interface Seen {
  readonly live: Awaited<ReturnType<typeof readLive>>['found'];
  readonly world: OwnerWorld;
  /** Owners, by `ownerKey`, that do not answer to their names. */
  readonly mute: ReadonlySet<string>;
  /** The same of recorded objects, by `entryKey`. */
  readonly muteObjects: ReadonlySet<string>;
  /** Kinds of recorded objects (`kindText`), and of owners (`groupKind`), that could not be read: nobody knows whether these exist. */
  readonly unread: ReadonlySet<string>;
  /** They are put back as they were, before any upgrade. */
  readonly asBefore?: boolean;
}

/** What can be put back, and why the rest cannot: by the journal's entries and what is there now (§4.8/3). */
export function judgeEntries(entries: readonly JournalEntry[], seen: Seen, { options }: Context) {
  const { live, world, mute, muteObjects, unread, asBefore = false } = seen;
  const patches: GuardedPatch[] = [];
  const unseen = (entry: JournalEntry) => !live.has(entryKey(entry)) && unread.has(kindText(kindOf(entry)));
  const isMute = (entry: JournalEntry) => muteObjects.has(entryKey(entry));
  const gone = entries.filter((entry) => !live.has(entryKey(entry)) && !isMute(entry));
  const changed = gone.map((entry) => leftAlone(entry, unseen(entry) ? UNREAD : 'it no longer exists'));
  const unaddressed = entries
    .filter(isMute)
    .map((entry) => leftAlone(entry, 'the object itself is stored under its old name, and not found by this one'));
  const left: LeftOver = { ownerGone: [], changed, unaddressed, others: new Map() };
  const manifests: LeftAlone[] = [];
  const stayOff: LeftAlone[] = [];
  const noted: JournalEntry[] = [];
  const blocking = new Map<string, JournalOwner>();
  let asExpected = 0;
  let outstanding = entries.filter(unseen).length + unaddressed.length;
  for (const entry of entries) {
    const now = live.get(entryKey(entry));
    if (now === undefined) continue;
    const unknown = new Set(entry.owners.filter((owner) => unread.has(groupKind(owner))).map(ownerKey));
    const refused = new Set(unknown);
    const dropped = new Set<number>();
    const look = (owner: JournalOwner) => {
      const found = ownerNow(owner, world, asBefore ? entry.references[owner.place]?.uid : undefined);
      if (asBefore) return { found, other: otherThanBefore(entry, owner, found) };
      // The reference was put back to this owner: the user has decided, and is not asked again.
      const isDecided = found !== undefined && owner.restoredUid === found.uid;
      return { found, other: isDecided ? undefined : otherThanExpected(entry, owner, found, world) };
    };
    const owners = ownersOf(entry, (owner) => {
      const { found, other } = look(owner);
      const name = ownerText(owner);
      // The object of this name is recorded itself: the recorded owner is gone, so there is nothing to ask.
      if (other && sameOwners(entry, owner).some((one) => isThere(look(one)))) return undefined;
      asExpected += Number(isNew(owner, { found, other }, world));
      const choice = choiceFor(name, other, options);
      if (choice === 'drop') dropped.add(owner.place);
      if (isNamed(choice)) left.others.set(name, { detail: other ?? '', group: owner.group });
      const isRefused = found !== undefined && isLeftOff(choice, mute.has(ownerKey(owner)));
      if (isRefused) refused.add(ownerKey(owner));
      return isRefused || dropped.has(owner.place) ? undefined : found;
    });
    const { ops, changed: reports } = restorePatch(entry, now, ({ place }) => owners.get(place));
    // What is put back before the upgrade is removed again for it, and put back afterwards.
    noted.push(...(asBefore ? [] : backOf(entry, owners, reports)));
    const kept = reports.filter(({ place }) => !dropped.has(place));
    for (const report of kept) sortReport(entry, report, { mute, unknown }, left);
    const stays = ops.length + refused.size > 0 ? [] : staysOff(entry, kept, options);
    stayOff.push(...stays);
    manifests.push(...oldManifest(entry, now));
    if (ops.length + refused.size + stays.length > 0) outstanding += 1;
    if (ops.length === 0) continue;
    patches.push({ target: { ...entry.object, apiVersion: now.apiVersion }, patch: ops, uid: entry.object.uid });
    for (const owner of entry.owners)
      if (entry.references[owner.place]?.blockOwnerDeletion) blocking.set(`${owner.group}/${owner.kind}`, owner);
  }
  const { others, ...rest } = left;
  const otherOwners = [...others].map(([text, { detail }]) => ({ text, detail }));
  // An old API server shows old UIDs only in its own group: it does not explain another stored object.
  const areStored = [...others.values()].every(({ group }) => group !== world.apiGroup);
  const someAsExpected = (asExpected > 0 || areStored) && !asBefore;
  return { patches, ...rest, manifests, otherOwners, someAsExpected, outstanding, stayOff, noted, blocking: [...blocking.values()] };
}

type OwnersNow = ReadonlyMap<number, OwnerNow | undefined>;

function ownersOf({ owners }: JournalEntry, now: (owner: JournalOwner) => OwnerNow | undefined): OwnersNow {
  return new Map(owners.map((owner) => [owner.place, now(owner)]));
}

/** The entry as noted once its patch is through: all but the left-out places are back then. */
function backOf(entry: JournalEntry, owners: OwnersNow, reports: readonly PlaceReport[]): readonly JournalEntry[] {
  const left = new Set(reports.map(({ place }) => place));
  const back = [...owners].flatMap(([place, now]) => (now && !left.has(place) ? [[place, now.uid] as const] : []));
  const noted = notedBack(entry, new Map(back));
  return noted ? [noted] : [];
}

function isThere({ found, other }: { readonly found: OwnerNow | undefined; readonly other: string | undefined }): boolean {
  return found !== undefined && other === undefined;
}

/** The API server that the references were removed for answers: it shows this owner as it is expected to. */
function isNew({ group }: JournalOwner, seen: Parameters<typeof isThere>[0], { apiGroup }: OwnerWorld): boolean {
  return group === apiGroup && isThere(seen);
}

type Choice = ReturnType<typeof choiceFor>;

const isNamed = (choice: Choice): boolean => choice === 'open' || choice === 'accepted';
const isLeftOff = (choice: Choice, isMute: boolean): boolean => isMute || choice === 'open';

/** All that the entry records of one owner. */
const sameOwners = ({ owners }: JournalEntry, owner: JournalOwner) => owners.filter((one) => ownerKey(one) === ownerKey(owner));

/** What the user has said of an owner that is another than the recorded one; undefined for one that is not. */
function choiceFor(name: string, other: string | undefined, options: Context['options']) {
  if (other === undefined) return undefined;
  return options.ownerChoices?.[name] ?? (acceptsSubject(options, 'NS-746', name) ? 'accepted' : 'open');
}

/** Its manifest, applied again, would restore an old UID. */
export function oldManifest(entry: JournalEntry, { appliedOwners = [] }: Pick<LiveReferences, 'appliedOwners'>): readonly LeftAlone[] {
  return entry.owners.flatMap((owner) => {
    const uid = entry.references[owner.place]?.uid;
    if (uid === undefined || !appliedOwners.includes(uid)) return [];
    return [leftAlone(entry, `its manifest names ${ownerText(owner)} with UID ${uid}`)];
  });
}

/** The finding for a place that stays removed. In all other cases the object has the reference, or is gone: the journal loses nothing. */
const NAMED_BY: Readonly<Partial<Record<Changed, string>>> = {
  'owner-gone': 'NS-744',
  'old-one-there': 'NS-745',
  'other-controller': 'NS-745',
};

/** References that only the journal knows, not put back now or earlier, unless the user has accepted that (§4.8/3). */
function staysOff(entry: JournalEntry, reports: readonly PlaceReport[], options: Context['options']): readonly LeftAlone[] {
  const text = refText(entry.object);
  if (options.accept.some(({ check, subject }) => check === 'NS-748' && subject === text)) return [];
  const once = new Set(entry.owners.flatMap(({ place, restoredUid }) => (restoredUid === undefined ? [] : [place])));
  const named = reports.flatMap(({ place, changed }) => (once.has(place) ? [] : (NAMED_BY[changed] ?? [])));
  const open = [...new Set(named)].filter((id) => !acceptsSubject(options, id, text));
  return open.length === 0 ? [] : [leftAlone(entry, open.join(', '))];
}

const UNREAD = 'it could not be read';

const TEXTS: Readonly<Record<Changed, string>> = {
  'other-object': 'another object has its name now',
  'other-flags': 'the reference is there with other flags',
  'put-back-otherwise': 'somebody put it back with other flags',
  'old-one-there': 'the reference with the old UID is there: remove it again',
  'other-controller': 'another reference is its controller now',
  'owner-gone': 'the owner no longer exists',
  'taken-off-since': 'somebody removed it after it was put back',
  'same-owner-twice': 'an earlier reference names the same owner',
};

interface LeftOver {
  readonly ownerGone: LeftAlone[];
  readonly changed: LeftAlone[];
  readonly unaddressed: LeftAlone[];
  /** Owners with another UID than expected, by their names. */
  readonly others: Map<string, { readonly detail: string; readonly group: string }>;
}

interface Unseen {
  readonly mute: ReadonlySet<string>;
  readonly unknown: ReadonlySet<string>;
}

function sortReport(entry: JournalEntry, { place, changed: why }: PlaceReport, { mute, unknown }: Unseen, into: LeftOver): void {
  const owner = entry.owners.find((one) => one.place === place);
  const name = owner ? ownerText(owner) : '';
  if (why === 'owner-gone' && owner && unknown.has(ownerKey(owner))) {
    into.changed.push(leftAlone(entry, `owner ${name}: ${UNREAD}`));
    return;
  }
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

function leftAlone({ object }: JournalEntry, detail: string): LeftAlone {
  return { object: plainRef(object), text: refText(object), detail };
}
