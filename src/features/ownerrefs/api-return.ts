import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isApiAway } from '../survey/index.ts';
import type { OwnerReferences } from './owner-facts.ts';

/** A new API server needs seconds; one that needs longer is not starting. */
const RETURN_MS = 60_000;
const POLL_MS = 1_000;

/**
 * Searches again, for a minute at most, while nothing but the v3 API hides what is owned and this very run has replaced its server. Where an
 * operator does that, it takes its time, and nothing is left to be written that a search would have to precede: there it is not waited for.
 */
export async function onceServed(
  { cluster, clock }: Pick<Sources, 'cluster' | 'clock'>,
  { profile }: Pick<Context, 'profile'>,
  { path }: Pick<Installation, 'path'>,
  search: () => Promise<OwnerReferences>,
): Promise<OwnerReferences> {
  let found = await search();
  if (path === 'operator' || path === 'chart') return found;
  const since = clock.now().getTime();
  while (isApiAway(found.unread, profile.apiGroup) && clock.now().getTime() - since < RETURN_MS) {
    await clock.sleep(POLL_MS);
    // What one look has been told of the groups counts no longer.
    await cluster.discover('anew');
    found = await search();
  }
  return found;
}
