import type { Context } from '../../kernel/context.ts';
import { groupOf } from '../../kernel/object.ts';
import { entryKey, type JournalEntry, kindOf, sameReference } from '../../kernel/owner-journal.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { isOfDefaultTier, isStoredAnew, policyName } from '../../kube/stored-metadata.ts';
import { POLICY_KINDS } from '../policies/index.ts';
import { attempt, eachOf } from '../survey/index.ts';
import { type LiveObjects, liveOf } from './restore-live.ts';
import { kindText } from './survey.ts';

interface Followed {
  readonly entries: readonly JournalEntry[];
  readonly live: LiveObjects;
}

/**
 * Recorded policies that the migration stored under new names: it copies owners, so removed references are missing there too (domain
 * §7.2b). An object is another one if it lacks a kept reference, or, without kept ones, is not older than its stored form.
 */
export async function followRenamed(
  cluster: Pick<ClusterReader, 'discover' | 'get'>,
  { entries, live }: Followed,
  { profile }: Pick<Context, 'profile'>,
): Promise<Followed> {
  const prefix = profile.policyRenaming?.prefix;
  const isMoved = (entry: JournalEntry) => isPolicy(entry, profile) && !live.found.has(entryKey(entry));
  if (prefix === undefined || !entries.some(isMoved)) return { entries, live };
  const { kinds } = await cluster.discover();
  const found = new Map(live.found);
  const unread = [...live.unread];
  const followed = await eachOf(entries, 8, async (entry) => {
    const { name, namespace } = entry.object;
    const kind = kinds.find((one) => kindText(one) === kindText(kindOf(entry)));
    if (!kind || !isMoved(entry) || !name.startsWith(prefix)) return [entry];
    const reading = await attempt(() => cluster.get(kind, name.slice(prefix.length), namespace));
    if ('unread' in reading) unread.push({ kind: kindText(kind), because: reading.unread });
    const object = 'value' in reading ? reading.value : undefined;
    if (!object || !isOfDefaultTier(object) || policyName(object, profile) !== object.metadata.name) return [entry];
    const now = liveOf(object, kind);
    const kept = keptOf(entry);
    if (!kept.every((one) => now.references.some((other) => sameReference(one, other)))) return [entry];
    if (kept.length === 0 && !isStoredAnew(object, profile.apiGroup)) return [entry];
    const renamed = { ...entry, object: { ...entry.object, name: object.metadata.name, uid: now.uid } };
    found.set(entryKey(renamed), now);
    return [renamed];
  });
  return { entries: followed.flat(), live: { found, unread } };
}

function isPolicy({ object }: JournalEntry, { crdGroup }: Context['profile']): boolean {
  return groupOf(object.apiVersion) === crdGroup && POLICY_KINDS.has(object.kind);
}

function keptOf({ references, removed }: JournalEntry): JournalEntry['references'] {
  return references.filter((_, place) => !removed.includes(place));
}
