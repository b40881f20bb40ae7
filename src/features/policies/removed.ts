import { sameValue } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { KeptItem, Records } from '../../kernel/ports.ts';
import { keptByRun } from '../survey/index.ts';

/** What is kept before a stored object of the temporary policy is deleted: it, and what else was stored of it then. */
export interface KeptPolicy {
  readonly policy?: KubeObject;
  readonly others?: readonly KubeObject[];
}

/**
 * Every stored object that the latest removal deleted or was about to delete, each as it was last seen. It may have taken several attempts,
 * in one run or in more: an earlier one belongs to it where it saw all that the later one did. Before a way back others were seen, for what
 * comes back is new; a run may have several of those.
 */
export async function removedPolicies(records: Pick<Records, 'keptWith'>): Promise<readonly KubeObject[]> {
  const items = (await keptByRun(records, 'policy')).flat();
  const attempts = items.map(policiesOf).filter((one) => one.length > 0);
  let later = attempts.pop() ?? [];
  const removed = [...later];
  for (const earlier of attempts.toReversed()) {
    if (!later.every((one) => isAmong(one, earlier))) break;
    removed.push(...earlier.filter((one) => !isAmong(one, removed)));
    later = earlier;
  }
  return removed;
}

function policiesOf({ content }: KeptItem): readonly KubeObject[] {
  const { policy, others = [] } = content as KeptPolicy;
  return policy ? [policy, ...others] : [];
}

/** In key-value mode one may have no uid: there it is the same only as long as nothing of it changes. */
function isAmong(one: KubeObject, policies: readonly KubeObject[]): boolean {
  const { uid } = one.metadata;
  return policies.some((other) => (uid === undefined ? sameValue(one, other) : other.metadata.uid === uid));
}
