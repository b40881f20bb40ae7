import type { Installation } from '../../kernel/installation.ts';
import { isRecord, mapAt, sameValue, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { type KeptChange, keptChanges } from '../../kernel/object-change.ts';
import type { Records } from '../../kernel/run-record.ts';
import type { NoCli, ServiceCli } from '../service-cli/index.ts';
import type { RemovalJudged } from './removal-checks.ts';

export interface PolicyFacts extends RemovalJudged {
  readonly installation: Installation;
  /** Every stored object of the temporary policy: there may be two (host endpoint notes 5). */
  readonly found: readonly KubeObject[];
  readonly call: ServiceCli | NoCli;
  /** What the latest removal deleted, or was about to. */
  readonly removed: readonly RemovedPolicy[];
}

/** A stored object of the temporary policy as it was kept before it was deleted. */
export interface RemovedPolicy extends Pick<KeptChange, 'content'> {
  readonly policy: KubeObject;
}

/**
 * Every stored object that the latest removal deleted or tried to, as last seen. An earlier attempt belongs to it if it kept all that the
 * later one did: before an undo it saw others, for restored objects are new.
 */
export async function removedPolicies(records: Pick<Records, 'keptWith'>): Promise<readonly RemovedPolicy[]> {
  const kept = await keptChanges(records, 'policy', ({ before }) => isPolicy(before['']));
  const attempts = [...Map.groupBy(kept, ({ id }) => id).values()].map((changes) =>
    changes.map(({ content, before }): RemovedPolicy => ({ content, policy: before[''] as KubeObject })),
  );
  let later = attempts.pop() ?? [];
  const removed = [...later];
  for (const earlier of attempts.toReversed()) {
    if (!later.every((one) => isAmong(one, earlier))) break;
    removed.push(...earlier.filter((one) => !isAmong(one, removed)));
    later = earlier;
  }
  return removed;
}

function isPolicy(value: unknown): boolean {
  const { labels = {}, annotations = {} } = mapAt(value, 'metadata');
  const { spec = {} } = isRecord(value) ? value : {};
  return textAt(value, 'metadata', 'name') !== undefined && [labels, annotations, spec].every(isRecord);
}

/** In key-value mode one may have no uid: there it is the same only while nothing of it changes. */
function isAmong({ policy }: RemovedPolicy, others: readonly RemovedPolicy[]): boolean {
  const { uid } = policy.metadata;
  return others.some((other) => (uid === undefined ? sameValue(policy, other.policy) : other.policy.metadata.uid === uid));
}
