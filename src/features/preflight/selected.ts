import type { KubeObject } from '../../kernel/object.ts';
import { type Labels, predicateOf, StoredFault, storedSelector } from '../policy-rules/index.ts';

export interface Selected {
  readonly selected: readonly KubeObject[];
  /** Why it selects nothing; undefined where it selects something. */
  readonly reason?: string;
}

/** The objects that a selector of a stored object selects. One that cannot be parsed selects nothing. */
export function selectedBy(
  holder: KubeObject,
  field: string,
  text: string,
  objects: readonly KubeObject[],
  labelsOf: (object: KubeObject) => Labels,
): Selected {
  const unreadable = faultOf(() => storedSelector(holder, field, text));
  if (unreadable) return { selected: [], reason: unreadable.says };
  const selects = predicateOf(storedSelector(holder, field, text));
  const selected = objects.filter((one) => selects(labelsOf(one)));
  return selected.length > 0 ? { selected } : { selected, reason: `${field} ${text} selects none` };
}

/** What is wrong with a stored object, where reading it throws. */
export function faultOf(reading: () => unknown): StoredFault | undefined {
  try {
    reading();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof StoredFault) return thrown;
    throw thrown;
  }
}
