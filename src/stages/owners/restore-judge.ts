import type { LeftAlone } from '../../checks/owner-facts.ts';
import type { GuardedPatch } from '../../core/action.ts';
import type { Acceptance, Context } from '../../core/context.ts';
import { refText } from '../../core/object.ts';
import type { OwnerWorld } from '../../core/owner-fate.ts';
import { entryKey, type JournalEntry, type JournalOwner, kindOf, type LiveReferences } from '../../core/owner-journal.ts';
import type { Changed, PlaceReport } from '../../core/owner-patches.ts';
import { type OwnerNow, restorePatch } from '../../core/owner-restore.ts';
import { ownerKey } from './mute-owners.ts';
import type { readLive } from './restore-live.ts';
import { otherThanBefore, otherThanExpected, ownerNow, ownerText } from './restore-owners.ts';
import { kindText } from './survey.ts';
import { groupKind } from './world.ts';

/** What is there now. */
interface Seen {
  readonly live: Awaited<ReturnType<typeof readLive>>['found'];
  readonly world: OwnerWorld;
  readonly mute: ReadonlySet<string>;
  /** Kinds of recorded objects (`kindText`), and of owners (`groupKind`), that could not be read: nobody knows whether these exist. */
  readonly unread: ReadonlySet<string>;
}

/** What can be put back, and why the rest cannot: by the journal's entries and what is there now (§4.8/3). */
export function judgeEntries(entries: readonly JournalEntry[], { live, world, mute, unread }: Seen, { options }: Context) {
  const patches: GuardedPatch[] = [];
  const unseen = (entry: JournalEntry) => !live.has(entryKey(entry)) && unread.has(kindText(kindOf(entry)));
  const gone = entries.filter((entry) => !live.has(entryKey(entry)));
  const changed = gone.map((entry) => leftAlone(entry, unseen(entry) ? UNREAD : 'it no longer exists'));
  const left: LeftOver = { ownerGone: [], changed, unaddressed: [], others: new Map() };
  const manifests: LeftAlone[] = [];
  const blocking = new Map<string, JournalOwner>();
  let outstanding = entries.filter(unseen).length;
  for (const entry of entries) {
    const now = live.get(entryKey(entry));
    if (now === undefined) continue;
    const unknown = new Set(entry.owners.filter((owner) => unread.has(groupKind(owner))).map(ownerKey));
    const refused = new Set(unknown);
    const look = (owner: JournalOwner) => {
      const found = ownerNow(owner, world, options.undo ? entry.references[owner.place]?.uid : undefined);
      return { found, other: options.undo ? otherThanBefore(entry, owner, found) : otherThanExpected(entry, owner, found, world) };
    };
    const { ops, changed: reports } = restorePatch(entry, now, (owner) => {
      const { found, other } = look(owner);
      const name = ownerText(owner);
      // What has its name now is recorded here, too: this one is gone, and there is nothing to ask a person.
      if (other && entry.owners.some((one) => ownerKey(one) === ownerKey(owner) && isThere(look(one)))) return undefined;
      if (other) left.others.set(name, other);
      const isRefused = found !== undefined && (mute.has(ownerKey(owner)) || (other !== undefined && !isAccepted(options.accept, name)));
      if (isRefused) refused.add(ownerKey(owner));
      return isRefused ? undefined : found;
    });
    for (const report of reports) sortReport(entry, report, { mute, unknown }, left);
    manifests.push(...oldManifest(entry, now));
    if (ops.length > 0 || refused.size > 0) outstanding += 1;
    if (ops.length === 0) continue;
    patches.push({ target: { ...entry.object, apiVersion: now.apiVersion }, patch: ops, uid: entry.object.uid });
    for (const owner of entry.owners)
      if (entry.references[owner.place]?.blockOwnerDeletion) blocking.set(`${owner.group}/${owner.kind}`, owner);
  }
  const { others, ...rest } = left;
  const otherOwners = [...others].map(([text, detail]) => ({ text, detail }));
  return { patches, ...rest, manifests, otherOwners, outstanding, blocking: [...blocking.values()] };
}

function isThere({ found, other }: { readonly found: OwnerNow | undefined; readonly other: string | undefined }): boolean {
  return found !== undefined && other === undefined;
}

/** Its manifest, applied again, would bring a UID of before back. */
function oldManifest(entry: JournalEntry, { appliedOwners = [] }: LiveReferences): readonly LeftAlone[] {
  return entry.owners.flatMap((owner) => {
    const uid = entry.references[owner.place]?.uid;
    if (uid === undefined || !appliedOwners.includes(uid)) return [];
    return [leftAlone(entry, `its manifest names ${ownerText(owner)} with UID ${uid}`)];
  });
}

function isAccepted(accept: readonly Acceptance[], subject: string): boolean {
  return accept.some((one) => one.check === 'NS-746' && (one.subject === undefined || one.subject === subject));
}

const UNREAD = 'it could not be read';

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

function leftAlone({ object: { plural: _, ...object } }: JournalEntry, detail: string): LeftAlone {
  return { object, text: refText(object), detail };
}
