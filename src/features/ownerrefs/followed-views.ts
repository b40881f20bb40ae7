import type { Context } from '../../kernel/context.ts';
import { entryKey, type JournalEntry, kindOf } from '../../kernel/owner-journal.ts';
import { convertUid } from '../../kernel/owner-uid.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { POLICY_KINDS } from '../policies/index.ts';
import { attempt, eachOf } from '../survey/index.ts';
import type { LiveObject, LiveObjects } from './restore-live.ts';
import { kindText } from './survey.ts';
import { behindName, twoViewsIn, viewOf } from './views.ts';

interface Followed {
  readonly entries: readonly JournalEntry[];
  readonly live: LiveObjects;
}

/**
 * Recorded objects of the v3 API under the UIDs that it shows now: the upgrade converts them, and a policy that is stored again gets another
 * (domain §7.2). One that is stored under its old name and does not answer to its own is not gone (host endpoint notes 0.5).
 */
export async function followViews(
  cluster: Pick<ClusterReader, 'discover' | 'get'>,
  { entries, live }: Followed,
  { profile }: Pick<Context, 'profile'>,
): Promise<Followed> {
  if (!entries.some(({ object }) => object.backingUid !== undefined)) return { entries, live };
  const views = twoViewsIn((await cluster.discover()).kinds, profile);
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
    const behind = await attempt(() => behindName(cluster, view.crd, object, profile.policyRenaming?.prefix));
    if ('unread' in behind) unread.push({ kind: text, because: behind.unread });
    else if (behind.value) mute.add(entryKey(entry));
    return entry;
  });
  return { entries: followed, live: { found: live.found, unread, mute } };
}

function isSame({ object: { kind, uid, madeAt } }: JournalEntry, now: LiveObject): boolean {
  if (now.uid === uid || now.uid === convertUid(uid)) return true;
  return POLICY_KINDS.has(kind) && madeAt !== undefined && now.madeAt !== undefined && Date.parse(now.madeAt) === Date.parse(madeAt);
}
