import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { continues, resumedBackwards } from '../../kernel/run-record.ts';
import type { PreflightFacts } from './facts.ts';

/** Release from which the upgrade starts: an unfinished run's, also one whose rollback is unfinished, else the installed one. A minor line counts as its first release. */
export function sourceRelease(installation: Installation, facts: Pick<PreflightFacts, 'record'>, context: Context): string | undefined {
  const record = 'value' in facts.record ? facts.record.value : undefined;
  const resumed = resumedBackwards(record, context);
  if (resumed) return resumed.from;
  if (continues(record, context) && record.intent.from) return record.intent.from;
  return installation.release ?? (installation.line === undefined ? undefined : `${installation.line}.0`);
}

/** True if the record of an unfinished run to the same target, or of its unfinished rollback, explains a half-done state. */
export function explained(facts: Pick<PreflightFacts, 'record'>, context: Context): boolean {
  if (!('value' in facts.record)) return false;
  const { value } = facts.record;
  return continues(value, context) || resumedBackwards(value, context) !== undefined;
}
