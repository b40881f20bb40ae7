import type { Context } from '../../kernel/context.ts';
import { type Installation, isOperated } from '../../kernel/installation.ts';
import { type Journal, type JournalEntry, lackingIn } from '../../kernel/journal.ts';
import { groupOf, plainRef, refText } from '../../kernel/object.ts';
import type { ClusterReader, ListOptions, Sources } from '../../kernel/ports.ts';
import { continues, type RunRecord } from '../../kernel/run-record.ts';
import { keepsOldNames } from '../policies/index.ts';
import { hasApplied, oldestOf, oldestRelease, replacesApi, resourcesOf } from '../survey/index.ts';
import { type Dangling, type JournalFound, type OwnerReferences, type OwnersJudged, withMute } from './owner-facts.ts';
import { fatesOf, type ReferenceFate } from './owner-fate.ts';
import { byKey, comesOff, isDead } from './owner-strip.ts';
import type { Way } from './removal-rule.ts';
import { scanOwned, uniqueKinds } from './survey.ts';
import { changesUids, wayFrom } from './uid-change.ts';
import { isApiAway } from './undiscovered.ts';
import { readOwnerWorld } from './world.ts';

export type OwnerChoice = 'new' | 'drop';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Of an owner that is another than the recorded one: the reference goes to the one that is there now, or is left off for good (NS-746). */
    readonly ownerChoices?: Readonly<Record<string, OwnerChoice>>;
    /** The user asked to end the journal of owner references (`ownerrefs forget`). */
    readonly forgetOwners?: boolean;
  }
}

/** Release under which the references were made: the oldest of agents and API server, by an unfinished run's record, else as now. Undefined if one is unknown. */
export function sourceOf(installation: Installation, record: RunRecord | undefined, context: Context): string | undefined {
  if (!continues(record, context)) return oldestRelease(installation);
  if (record.oldest !== undefined) return oldestOf([record.oldest]);
  return hasApplied(record) ? undefined : oldestRelease(installation);
}

/** What this upgrade does to UIDs and names, as far as the record says that it has begun. */
export function wayOf(record: RunRecord | undefined, installation: Installation, context: Context): Way {
  return wayFrom(sourceOf(installation, record, context), installation, context, replacesApi(record, context));
}

/** The whole cluster, searched now, and which references are removed before the upgrade. */
export async function readReferences(
  cluster: Pick<ClusterReader, 'discover' | 'list' | 'get'>,
  context: Pick<Context, 'profile'>,
  way: Way,
  scope: Pick<ListOptions, 'namespace' | 'labelSelector'> = {},
): Promise<OwnerReferences> {
  const scan = await scanOwned(cluster, context.profile, scope);
  const { world, unread } = await readOwnerWorld(cluster, context, scan.objects, way);
  return { objects: scan.objects.map((owned) => fatesOf(owned, world)), unread: [...scan.unread, ...unread], kinds: scan.kinds };
}

/** What has to be known right before something changes UIDs; nothing is searched where nothing does, unless the user asked for it. */
export async function readOwnersJudged(
  sources: Sources,
  context: Context,
  installation: Installation,
  isAskedFor = false,
): Promise<OwnersJudged> {
  const [record, journal] = await Promise.all([sources.records.load(), sources.journal.load()]);
  const isSearched =
    isAskedFor ||
    changesUids(sourceOf(installation, record, context), context) ||
    // Recorded references may have come back; others dangle when a hold is released, or are not found by name until then.
    journal !== undefined ||
    (await keepsOldNames(sources.cluster, context));
  const search = () => readReferences(sources.cluster, context, wayOf(record, installation, context));
  const isReplaced = replacesApi(record, context);
  const searched = () => (isReplaced ? onceServed(sources, context, installation, search) : search());
  const references = isSearched ? await searched() : undefined;
  const apiReplaced = isReplaced && references !== undefined && isApiAway(references.unread, context.profile.apiGroup);
  return {
    references,
    recorded: journal?.entries ?? [],
    ...(apiReplaced ? { apiReplaced } : {}),
    ...lackingOf(record, journal, context),
  };
}

/** What the record says that was removed here, and that the journal does not hold. */
export function lackingOf(
  record: RunRecord | undefined,
  journal: Journal | undefined,
  { clusterUid }: Pick<Context, 'clusterUid'>,
): Pick<JournalFound, 'lacking'> {
  const lacking = record?.clusterUid === clusterUid ? lackingIn(record.stripped, journal) : undefined;
  return lacking ? { lacking } : {};
}

/** Every reference to the service's resources followed to its owner, as the cluster is now. */
export interface OwnersFollowed {
  readonly references: number;
  readonly dangling: readonly Dangling[];
  readonly unread: OwnerReferences['unread'];
}

/** Kinds of owners that nobody serves count as unread. */
export async function followOwners(cluster: ClusterReader, context: Context, installation: Installation): Promise<OwnersFollowed> {
  const found = await withMute(cluster, await readReferences(cluster, context, wayOf(undefined, installation, context)));
  const references = found.objects.flatMap(({ fates }) => fates.map(({ reference }) => reference));
  const { kinds } = references.length === 0 ? { kinds: [] } : await cluster.discover();
  const unserved = references.filter(({ apiVersion, kind }) => resourcesOf(kinds, groupOf(apiVersion), kind).length === 0);
  const unread = [
    ...found.unread,
    ...unserved.map(({ apiVersion, kind }) => ({ kind: `${kind}.${groupOf(apiVersion)}`, because: 'the server does not serve it' })),
  ];
  return { references: references.length, dangling: deadIn(found, []), unread: uniqueKinds(unread) };
}

/** References that the garbage collector counts as dangling: another UID, or an owner not found by its name. Unread owners are unknown. */
export function deadIn({ objects }: Pick<OwnerReferences, 'objects'>, recorded: readonly JournalEntry[]): readonly Dangling[] {
  const journal = byKey(recorded);
  return objects.flatMap(({ owned, fates }) => {
    const object = plainRef(owned.object);
    return fates
      .filter((one) => (one.isMute || isDead(one)) && !one.isIgnored)
      .map((one) => ({
        ...{ object, text: refText(object), detail: detailOf(one), isStripped: comesOff(one, owned, journal) },
        ...(one.isMute ? { isMute: true } : {}),
      }));
  });
}

function detailOf({ reference: { apiVersion, kind, name, uid }, isMute }: ReferenceFate): string {
  const why = isMute ? 'is stored under its old name, and not found by this one' : `has no longer the UID ${uid}`;
  return `owner ${apiVersion} ${kind}/${name} ${why}`;
}

/** A new API server needs seconds; one that needs longer is not starting. */
const RETURN_MS = 60_000;
const POLL_MS = 1_000;

/**
 * Searches again, for at most a minute, while only the v3 API fails whose server this run has replaced. On operator paths nothing is left
 * to write that needs the search first, so it does not wait.
 */
async function onceServed(
  { cluster, clock }: Pick<Sources, 'cluster' | 'clock'>,
  { profile }: Pick<Context, 'profile'>,
  installation: Pick<Installation, 'path'>,
  search: () => Promise<OwnerReferences>,
): Promise<OwnerReferences> {
  let found = await search();
  if (isOperated(installation)) return found;
  const since = clock.now().getTime();
  while (isApiAway(found.unread, profile.apiGroup) && clock.now().getTime() - since < RETURN_MS) {
    await clock.sleep(POLL_MS);
    // What one look has been told of the groups counts no longer.
    await cluster.discover('anew');
    found = await search();
  }
  return found;
}
