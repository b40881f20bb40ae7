import { sameValue } from '../../kernel/json.ts';
import { isJsonMap, mapAt, textAt } from '../../kernel/json-map.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { KeptItem, Records } from '../../kernel/ports.ts';
import { keptByRun, keptElsewhere } from '../survey/index.ts';

/** What is kept before a stored object of the temporary policy is deleted: it, and what else was stored of it then. */
export interface KeptPolicy {
  readonly policy?: KubeObject;
  readonly others?: readonly KubeObject[];
}

/**
 * Every stored object that the latest removal deleted or tried to, as last seen. An earlier attempt belongs to it if it saw all that the
 * later one did: before an undo it saw others, for restored objects are new.
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

/** Of the removed ones, those that another machine than this kept. */
export async function removedElsewhere(
  records: Pick<Records, 'keptWith' | 'keptHere'>,
  removed: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  const others = (await keptElsewhere(records, 'policy')).flatMap(policiesOf);
  return removed.filter((one) => others.some((other) => sameValue(one, other)));
}

/** What is no policy was kept by nobody. */
function policiesOf({ content }: KeptItem): readonly KubeObject[] {
  const { policy, others } = isJsonMap(content) ? content : {};
  return isPolicy(policy) ? [policy, ...(Array.isArray(others) ? others.filter(isPolicy) : [])] : [];
}

function isPolicy(value: unknown): value is KubeObject {
  const { labels = {}, annotations = {} } = mapAt(value, 'metadata');
  const { spec } = isJsonMap(value) ? value : {};
  return textAt(value, 'metadata', 'name') !== undefined && [labels, annotations, spec ?? {}].every(isJsonMap);
}

/** In key-value mode one may have no uid: there it is the same only as long as nothing of it changes. */
function isAmong(one: KubeObject, policies: readonly KubeObject[]): boolean {
  const { uid } = one.metadata;
  return policies.some((other) => (uid === undefined ? sameValue(one, other) : other.metadata.uid === uid));
}
