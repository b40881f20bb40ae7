import type { LeftAlone, RestoreJudged } from '../checks/owner-facts.ts';
import type { Expectation, GuardedPatch, PoliciesSettled } from '../core/action.ts';
import type { Acceptance, Context } from '../core/context.ts';
import { refText } from '../core/object.ts';
import { type OwnerWorld, ownerPlace } from '../core/owner-fate.ts';
import { entryKey, type JournalEntry, type JournalOwner, type OwnerJournal } from '../core/owner-journal.ts';
import type { Changed, PlaceReport } from '../core/owner-patches.ts';
import { type OwnerNow, restorePatch } from '../core/owner-restore.ts';
import { convertUid } from '../core/owner-uid.ts';
import type { Sources } from '../core/ports.ts';
import { readInstalled } from './installed.ts';
import { deadIn, readReferences, sourceOf } from './owner-references.ts';
import { POLICY_KINDS, readOwnerWorld, uidRules } from './owner-world.ts';
import { readLive } from './restore-live.ts';
import { readReadiness } from './restore-ready.ts';

export interface RestoreFacts extends RestoreJudged {
  readonly journal?: OwnerJournal;
  /** Why the stage does nothing now. */
  readonly skip?: string;
  /** Only planned, before the upgrade: what will be put back is what is off then. */
  readonly isLater: boolean;
  /** What has to come first; nothing else is known before. */
  readonly waits: readonly Expectation[];
  readonly waitMs: number;
  readonly settled?: PoliciesSettled;
  readonly patches: readonly GuardedPatch[];
}

const NOTHING = {
  idle: true,
  unread: [],
  ownerGone: [],
  changed: [],
  otherOwners: [],
  finalizers: [],
  outstanding: 0,
  dangling: [],
  isLater: false,
  waits: [],
  waitMs: 0,
  patches: [],
} as const satisfies RestoreFacts;

/** Stages that change what restoring goes by: while they are only planned, there is nothing to say about it. */
const BEFORE: readonly string[] = ['ownerrefs-strip', 'crds', 'apply', 'wait'];

/** What is recorded as taken off, what can be put back now, and what stands in the way (§4.8/3). */
export async function readRestoreFacts(sources: Sources, context: Context): Promise<RestoreFacts> {
  const journal = await sources.ownerJournal.load();
  if (!journal) return { ...NOTHING, skip: 'no owner reference is recorded as taken off' };
  if (context.chain?.pending.some((id) => BEFORE.includes(id))) return { ...NOTHING, journal, isLater: true };
  const [installation, record] = await Promise.all([readInstalled(sources, context), sources.records.load()]);
  const { waits, waitMs, settled } = await readReadiness(sources, context, installation);
  if (waits.length > 0 && !context.options.undo) return { ...NOTHING, journal, waits, waitMs };
  const rules = uidRules(sourceOf(installation, record, context), installation, context);
  const [{ world, unread }, live, references] = await Promise.all([
    readOwnerWorld(sources.cluster, context, journal.entries.map(onlyRemoved), rules),
    readLive(sources.cluster, journal.entries),
    readReferences(sources.cluster, context, installation, sourceOf(installation, record, context)),
  ]);
  const restored = judgeEntries(journal.entries, live.found, world, context);
  const allUnread = [...unread, ...live.unread, ...references.unread];
  return {
    ...restored,
    journal,
    idle: false,
    unread: [...new Map(allUnread.map((one) => [one.kind, one])).values()],
    finalizers: await missingFinalizers(sources, restored.blocking),
    outstanding: restored.patches.length,
    dangling: deadIn(references),
    isLater: false,
    waits: [],
    waitMs,
    ...(settled && !context.options.undo ? { settled } : {}),
  };
}

/** Only the owners of removed places are looked up. */
function onlyRemoved({ references, removed }: JournalEntry) {
  return { references: references.filter((_, place) => removed.includes(place)) };
}

type Found = Awaited<ReturnType<typeof readLive>>['found'];

function judgeEntries(entries: readonly JournalEntry[], live: Found, world: OwnerWorld, { options }: Context) {
  const patches: GuardedPatch[] = [];
  const ownerGone: LeftAlone[] = [];
  const changed: LeftAlone[] = [];
  const others = new Map<string, string>();
  const blocking = new Map<string, JournalOwner>();
  for (const entry of entries) {
    const now = live.get(entryKey(entry));
    if (now === undefined) {
      changed.push(leftAlone(entry, 'it no longer exists'));
      continue;
    }
    const { ops, changed: reports } = restorePatch(entry, now, (owner) => {
      const found = ownerNow(owner, world);
      const other = options.undo ? undefined : (otherThanComputed(owner, found) ?? otherThanStored(owner, found, world));
      if (other) others.set(ownerText(owner), other);
      return other && !isAccepted(options.accept, ownerText(owner)) ? undefined : found;
    });
    for (const report of reports) sortReport(entry, report, others, ownerGone, changed);
    if (ops.length === 0) continue;
    patches.push({ target: entry.object, patch: ops, uid: entry.object.uid });
    for (const owner of entry.owners)
      if (entry.references[owner.place]?.blockOwnerDeletion) blocking.set(`${owner.group}/${owner.kind}`, owner);
  }
  const otherOwners = [...others].map(([text, detail]) => ({ text, detail }));
  return { patches, ownerGone, changed, otherOwners, blocking: [...blocking.values()] };
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

/** Policies are stored anew by the migration: their UID must be read (domain §7.2b). */
function otherThanComputed({ kind, expectedUid }: JournalOwner, now: OwnerNow | undefined): string | undefined {
  if (expectedUid === undefined || now === undefined || POLICY_KINDS.has(kind) || now.uid === expectedUid) return undefined;
  return `UID ${now.uid}, computed was ${expectedUid}`;
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

function sortReport(
  entry: JournalEntry,
  { place, changed: why }: PlaceReport,
  others: ReadonlyMap<string, string>,
  ownerGone: LeftAlone[],
  changed: LeftAlone[],
): void {
  const owner = entry.owners.find((one) => one.place === place);
  const name = owner ? ownerText(owner) : '';
  // Said once, for the owner itself.
  if (why === 'owner-gone' && others.has(name)) return;
  const left = leftAlone(entry, `owner ${name}: ${TEXTS[why]}`);
  if (why === 'owner-gone') ownerGone.push(left);
  else changed.push(left);
}

function leftAlone({ object: { plural: _, ...object } }: JournalEntry, detail: string): LeftAlone {
  return { object, text: refText(object), detail };
}

async function missingFinalizers({ cluster }: Sources, owners: readonly JournalOwner[]): Promise<readonly string[]> {
  if (owners.length === 0) return [];
  const { kinds } = await cluster.discover();
  const wanted = owners.flatMap(({ group, kind }) =>
    kinds.filter((one) => one.group === group && one.kind === kind && !one.plural.includes('/')),
  );
  const answers = await cluster.reviewAccess(
    wanted.map(({ group, plural }) => ({ verb: 'update', group, resource: plural, subresource: 'finalizers' })),
  );
  return wanted.filter((_, index) => answers[index] === false).map(({ group, plural }) => `${plural}.${group}`);
}
