import type { Context } from '../../kernel/context.ts';
import type { Sources } from '../../kernel/ports.ts';
import { upgradeWaits } from '../install/index.ts';
import { lackingOf, readRestoreFacts } from '../ownerrefs/index.ts';
import { attempt } from '../survey/index.ts';
import type { StillOff } from './survey.ts';

/** States of a stage that came to its end. */
const ENDED: readonly string[] = ['done', 'skipped'];

/**
 * Objects whose references are recorded as removed and not yet put back (§4.8/3), also in other places. They are looked at even without a
 * record, as a restore with nothing to do writes none.
 */
export async function readStillOff(sources: Sources, context: Context): Promise<StillOff> {
  const { journal: store, records } = sources;
  const [journal, record] = await Promise.all([store.load(), records.load()]);
  const lacking = lackingOf(record, journal, context);
  if (!journal) return { objects: 0, elsewhere: (await store.elsewhere()) ?? null, ...lacking };
  const [strip, restore] = ['ownerrefs-strip', 'ownerrefs-restore'].map((id) => record?.stages.find((one) => one.id === id));
  const isBack = restore?.endedAt !== undefined && ENDED.includes(restore.state) && restore.endedAt >= (strip?.endedAt ?? '');
  if (isBack) return { objects: 0, elsewhere: [], ...lacking };
  const facts = await attempt(() => readRestoreFacts(sources, context, upgradeWaits));
  // What cannot be looked at counts as off.
  if ('unread' in facts) return { objects: journal.entries.length, elsewhere: [], ...lacking };
  const { isLater, waits, outstanding } = facts.value;
  return { objects: isLater || waits.length > 0 ? journal.entries.length : outstanding, elsewhere: [], ...lacking };
}
