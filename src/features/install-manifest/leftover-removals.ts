import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { findLeftovers } from '../../manifest/leftovers.ts';
import { oldImages } from '../rollout/old-images.ts';
import type { ApplyFacts } from './apply-facts.ts';

/** Only once the target is applied: then what is left in the live templates is what server-side apply would never remove. */
export function leftoverRemovals(facts: Pick<ApplyFacts, 'previews'>, context: Context): readonly Action[] {
  const isOldImage = oldImages(context);
  return facts.previews.flatMap(({ live, document, planned, adopted }) => {
    if (!live || planned.change !== 'unchanged' || adopted) return [];
    const found = findLeftovers(live, document, context.profile, isOldImage);
    if (!found) return [];
    const { uid = '', resourceVersion } = live.metadata;
    const name = refText(refOf(live));
    return [
      {
        id: `leftovers-${name}`,
        title: `remove from ${name} what the old release left: ${found.names.join(', ')}`,
        ref: 'domain §6.4',
        undo: 'full',
        keep: found.removed,
        effect: {
          type: 'patch',
          target: refOf(live),
          patch: found.patch,
          precondition: { uid, ...(resourceVersion ? { resourceVersion } : {}) },
        },
      } satisfies Action,
    ];
  });
}
