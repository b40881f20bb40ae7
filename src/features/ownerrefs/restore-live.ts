import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { intentWords } from '../../kernel/intent.ts';
import type { Journal, JournalEntry } from '../../kernel/journal.ts';
import { apiVersionOf, groupOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { convertUid } from '../../kube/converted-uid.ts';
import { named } from '../../kube/lean-objects.ts';
import { appliedOwnerUids } from '../../kube/managed-fields.ts';
import { isOfDefaultTier, isStoredAnew, policyName } from '../../kube/stored-metadata.ts';
import { POLICY_KINDS } from '../policies/index.ts';
import { attempt } from '../survey/index.ts';
import { entryKey, kindOf, type LiveReferences, sameReference } from './journal-entries.ts';
import { kindText } from './survey.ts';
import type { UnreadKind } from './undiscovered.ts';
import { behindName, twoViewsIn, viewOf } from './views.ts';

/** More objects of one kind than this are found in one list instead of one by one. */
const BY_NAME = 40;

/** A recorded object as it is now. */
interface LiveObject extends LiveReferences {
  /** The one that is served now: what was recorded may have been dropped since. */
  readonly apiVersion: string;
  /** RFC 3339; the v3 API shows when its object was made, however often that was stored again. */
  readonly madeAt?: string;
}

export interface LiveObjects {
  /** By `entryKey`; what is not in it no longer exists, or is in `mute`. */
  readonly found: ReadonlyMap<string, LiveObject>;
  /** `entryKey` of objects of the v3 API that are stored under their old names, and do not answer to their own. */
  readonly mute?: ReadonlySet<string>;
  readonly unread: readonly UnreadKind[];
}

type Reader = Pick<ClusterReader, 'discover' | 'get' | 'list'>;

interface Followed {
  readonly entries: readonly JournalEntry[];
  readonly live: LiveObjects;
}

/** The recorded objects as they are now; a policy that was stored again meanwhile is still the one that was recorded. */
export async function readRecorded(cluster: Reader, { entries }: Pick<Journal, 'entries'>, context: Context): Promise<Followed> {
  const renamed = await followRenamed(cluster, { entries, live: await readLive(cluster, entries) }, context);
  return followViews(cluster, renamed, context);
}

/** The recorded objects as they are now, as far as references are concerned. */
export async function readLive(cluster: Reader, entries: readonly JournalEntry[]): Promise<LiveObjects> {
  const { kinds } = entries.length === 0 ? { kinds: [] } : await cluster.discover();
  const groups = Map.groupBy(entries, (entry) => kindText(kindOf(entry)));
  const parts = await eachOf([...groups], 4, async ([text, mine]) => {
    const [first] = mine;
    // The version that was listed then need not be served any more.
    const kind = first && kinds.find((one) => kindText(one) === text);
    if (!kind) return { unread: [{ kind: text, because: 'the server does not serve it' }], found: [] };
    const reading = await attempt(() => readOfKind(cluster, kind, mine));
    return 'unread' in reading ? { unread: [{ kind: text, because: reading.unread }], found: [] } : { unread: [], found: reading.value };
  });
  return { found: new Map(parts.flatMap(({ found }) => found)), unread: parts.flatMap(({ unread }) => unread) };
}

type Pair = readonly [key: string, live: LiveObject];

async function readOfKind(cluster: Reader, kind: Kind, entries: readonly JournalEntry[]): Promise<readonly Pair[]> {
  if (entries.length > BY_NAME) return listedOfKind(cluster, kind, entries);
  try {
    return await namedOfKind(cluster, kind, entries);
  } catch (thrown) {
    // The role that searches may list all kinds but get none, so it can list again what it found.
    if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown;
    return listedOfKind(cluster, kind, entries);
  }
}

async function namedOfKind(cluster: Reader, kind: Kind, entries: readonly JournalEntry[]): Promise<readonly Pair[]> {
  const found = await eachOf(entries, 8, async (entry) => {
    const object = await cluster.get(kind, entry.object.name, entry.object.namespace);
    return object ? [[entryKey(entry), liveOf(object, kind)] as const] : [];
  });
  return found.flat();
}

async function listedOfKind(cluster: Reader, kind: Kind, entries: readonly JournalEntry[]): Promise<readonly Pair[]> {
  const listed = await cluster.list(kind, { metadataOnly: true, keep: lean });
  const byName = new Map(listed.map((object) => [placeOf(object.metadata), object]));
  return entries.flatMap((entry): readonly Pair[] => {
    const object = byName.get(placeOf(entry.object));
    return object ? [[entryKey(entry), liveOf(object, kind)]] : [];
  });
}

function placeOf({ namespace = '', name }: { readonly namespace?: string | undefined; readonly name: string }): string {
  return `${namespace}/${name}`;
}

export function liveOf({ metadata }: KubeObject, kind: Kind): LiveObject {
  const { uid = '', ownerReferences = [], creationTimestamp } = metadata;
  const madeAt = creationTimestamp ? { madeAt: creationTimestamp } : {};
  return { apiVersion: apiVersionOf(kind), uid, references: ownerReferences, appliedOwners: appliedOwnerUids(metadata), ...madeAt };
}

function lean(object: KubeObject): KubeObject {
  const applied = appliedOwnerUids(object.metadata).length > 0 ? ['annotations'] : [];
  return named(object, 'uid', 'creationTimestamp', 'ownerReferences', ...applied);
}

/**
 * Recorded objects of the v3 API under the UIDs that it shows now: the upgrade converts them, and a policy that is stored again gets another
 * (domain §7.2). One that is stored under its old name and does not answer to its own is not gone (host endpoint notes 0.5).
 */
export async function followViews(
  cluster: Pick<ClusterReader, 'discover' | 'get'>,
  { entries, live }: Followed,
  { profile, intent }: Pick<Context, 'profile' | 'intent'>,
): Promise<Followed> {
  if (!entries.some(({ object }) => object.backingUid !== undefined)) return { entries, live };
  const views = twoViewsIn((await cluster.discover()).kinds, profile);
  const prefix = profile.policyRenaming?.prefix;
  const shownWith = intentWords(intent).goesBack ? prefix : undefined;
  const found = new Map(live.found);
  const unread = [...live.unread];
  const mute = new Set<string>();
  const followed = await eachOf(entries, 8, async (entry) => {
    const { object } = entry;
    const view = object.backingUid === undefined ? undefined : viewOf(object, views);
    if (!view) return entry;
    const now = live.found.get(entryKey(entry));
    if (now) return isSame(entry, now) ? { ...entry, object: { ...object, uid: now.uid } } : entry;
    const text = kindText(kindOf(entry));
    if (live.unread.some(({ kind }) => kind === text)) return entry;
    const former = shownWith === undefined ? undefined : await shownAs(cluster, view.v3, entry, `${shownWith}${object.name}`);
    if (former) {
      found.set(entryKey(former.entry), former.now);
      return former.entry;
    }
    const behind = await attempt(() => behindName(cluster, view.crd, object, prefix));
    if ('unread' in behind) unread.push({ kind: text, because: behind.unread });
    else if (behind.value) mute.add(entryKey(entry));
    return entry;
  });
  return { entries: followed, live: { found, unread, mute } };
}

/** The recorded policy under this name, if it is there: some older releases show policies with their prefix. */
async function shownAs(cluster: Pick<ClusterReader, 'get'>, v3: Kind, entry: JournalEntry, name: string) {
  if (!POLICY_KINDS.has(entry.object.kind)) return undefined;
  const shown = await attempt(() => cluster.get(v3, name, entry.object.namespace));
  const now = 'value' in shown && shown.value ? liveOf(shown.value, v3) : undefined;
  return now && isSame(entry, now) ? { now, entry: { ...entry, object: { ...entry.object, name, uid: now.uid } } } : undefined;
}

function isSame({ object: { kind, uid, madeAt } }: JournalEntry, now: LiveObject): boolean {
  if (now.uid === uid || now.uid === convertUid(uid)) return true;
  return POLICY_KINDS.has(kind) && madeAt !== undefined && now.madeAt !== undefined && Date.parse(now.madeAt) === Date.parse(madeAt);
}

/**
 * Recorded policies that the migration stored under new names, or a rollback under former ones: both copy owners, so removed references are
 * missing there too (domain §7.2b). An object is another one if it lacks a kept reference, or, without kept ones, is not older than its
 * stored form.
 */
export async function followRenamed(
  cluster: Pick<ClusterReader, 'discover' | 'get'>,
  { entries, live }: Followed,
  { profile, intent }: Pick<Context, 'profile' | 'intent'>,
): Promise<Followed> {
  const prefix = profile.policyRenaming?.prefix;
  const { goesBack } = intentWords(intent);
  const isMoved = (entry: JournalEntry) => {
    const now = live.found.get(entryKey(entry));
    // One that an upgrade renamed has its former name again, and another UID.
    return isPolicy(entry, profile) && (now === undefined || (goesBack && now.uid !== entry.object.uid));
  };
  if (prefix === undefined || !entries.some(isMoved)) return { entries, live };
  const { kinds } = await cluster.discover();
  const found = new Map(live.found);
  const unread = [...live.unread];
  const followed = await eachOf(entries, 8, async (entry) => {
    const { name, namespace } = entry.object;
    const kind = kinds.find((one) => kindText(one) === kindText(kindOf(entry)));
    const plain = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    const wanted = goesBack ? `${prefix}${plain}` : plain;
    if (!kind || !isMoved(entry) || (wanted === name && !goesBack)) return [entry];
    const reading = await attempt(() => cluster.get(kind, wanted, namespace));
    if ('unread' in reading) unread.push({ kind: kindText(kind), because: reading.unread });
    const object = 'value' in reading ? reading.value : undefined;
    if (!object || !isOfDefaultTier(object) || (!goesBack && policyName(object, profile) !== wanted)) return [entry];
    const now = liveOf(object, kind);
    if (!isCopyOf(entry, object, profile)) return [entry];
    const renamed = { ...entry, object: { ...entry.object, name: object.metadata.name, uid: now.uid } };
    found.set(entryKey(renamed), now);
    return [renamed];
  });
  return { entries: followed.flat(), live: { found, unread } };
}

/** It has the references that were left on the recorded one, or, where none were, it is older than its stored form. */
function isCopyOf(entry: JournalEntry, object: KubeObject, { apiGroup }: Context['profile']): boolean {
  const kept = keptOf(entry);
  const { ownerReferences = [] } = object.metadata;
  if (!kept.every((one) => ownerReferences.some((other) => sameReference(one, other)))) return false;
  return kept.length > 0 || isStoredAnew(object, apiGroup);
}

function isPolicy({ object }: JournalEntry, { crdGroup }: Context['profile']): boolean {
  return groupOf(object.apiVersion) === crdGroup && POLICY_KINDS.has(object.kind);
}

function keptOf({ references, removed }: JournalEntry): JournalEntry['references'] {
  return references.filter((_, place) => !removed.includes(place));
}
