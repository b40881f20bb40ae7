import { isOfGroup } from '../../kernel/kinds.ts';
import { type Continuation, continues, type RunRecord } from '../../kernel/run-record.ts';
import { hasApplied } from '../../kernel/run-record-steps.ts';

/** An answer of the aggregation that its server is not there, as readings word it. */
const NO_SERVER = /\((?:502|503|504)\)$/;

/** Something could not be searched, and the only reason is that the server of the aggregated group is away. */
export function isApiAway(unread: readonly { readonly kind: string; readonly because: string }[], apiGroup: string): boolean {
  const isAway = ({ kind, because }: (typeof unread)[number]) =>
    kind === apiGroup || (isOfGroup(kind, apiGroup) && NO_SERVER.test(because));
  return unread.length > 0 && unread.every(isAway);
}

/** The unfinished run has replaced the API server of the service, or is about to: for a while its group is not served. */
export function replacesApi(record: RunRecord | undefined, context: Continuation): boolean {
  return continues(record, context) && hasApplied(record);
}
