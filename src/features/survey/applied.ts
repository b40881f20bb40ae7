import { type Continuation, continues, type RunRecord } from '../../kernel/run-record.ts';

/** The run has performed something of `apply`, or may have: what is installed is no longer what it began with. */
export function hasApplied(record: RunRecord): boolean {
  return record.wrote.includes('apply');
}

/** The unfinished run has replaced the API server of the service, or is about to: for a while its group is not served. */
export function replacesApi(record: RunRecord | undefined, context: Continuation): boolean {
  return continues(record, context) && hasApplied(record);
}
