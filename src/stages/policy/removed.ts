import type { KubeObject } from '../../core/object.ts';
import type { KeptItem, Records } from '../../core/ports.ts';
import { keptByRun } from '../kept.ts';

/** What is kept before a stored object of the temporary policy is deleted: it, and what else was stored of it then. */
export interface KeptPolicy {
  readonly policy?: KubeObject;
  readonly others?: readonly KubeObject[];
}

/**
 * Every stored object that the latest removal deleted or was about to delete. It may have taken several runs: an earlier one belongs to
 * it where it saw what the later one deleted.
 */
export async function removedPolicies(records: Pick<Records, 'keptWith'>): Promise<readonly KubeObject[]> {
  const runs = (await keptByRun(records, 'policy')).map(policiesOf).filter((one) => one.length > 0);
  const removed = [...(runs.pop() ?? [])];
  for (const earlier of runs.toReversed()) {
    if (!earlier.some((one) => isAmong(one, removed))) break;
    removed.push(...earlier.filter((one) => !isAmong(one, removed)));
  }
  return removed;
}

/** Those of a run, each object once. In key-value mode one may have no uid; there all are kept at once. */
function policiesOf(items: readonly KeptItem[]): readonly KubeObject[] {
  const all = items.flatMap(({ content }) => {
    const { policy, others = [] } = content as KeptPolicy;
    return policy ? [policy, ...others] : [];
  });
  return all.filter((one, index) => !isAmong(one, all.slice(0, index)));
}

function isAmong({ metadata: { uid } }: KubeObject, policies: readonly KubeObject[]): boolean {
  return uid !== undefined && policies.some(({ metadata }) => metadata.uid === uid);
}
