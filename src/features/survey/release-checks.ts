import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { compareReleases, isOlder, parseRelease } from '../../kernel/release.ts';
import { continues } from '../../kernel/run-record.ts';
import type { PreflightFacts } from './facts.ts';

/**
 * Release from which the upgrade starts: what the record of an unfinished run says, else what is installed.
 * Where only the minor line is known, its first release stands for it.
 */
export function sourceRelease(installation: Installation, facts: Pick<PreflightFacts, 'record'>, context: Context): string | undefined {
  const record = 'value' in facts.record ? facts.record.value : undefined;
  if (continues(record, context) && record.source) return record.source;
  return installation.release ?? (installation.line === undefined ? undefined : `${installation.line}.0`);
}

/** True if going from `source` to `target` passes release `at`; an unknown source is assumed to be older. */
export function crosses(source: string | undefined, target: string, at: string): boolean {
  if (parseRelease(target) === undefined || isOlder(target, at)) return false;
  return source === undefined || parseRelease(source) === undefined || isOlder(source, at);
}

/** True if the record of an unfinished run to the same target explains a half-done state. */
export function explained(facts: Pick<PreflightFacts, 'record'>, context: Context): boolean {
  return 'value' in facts.record && continues(facts.record.value, context);
}

/** True if a release is of the minor line `v3.22` or an older one; an unknown release is assumed to be. */
export function notAfterLine(release: string | undefined, line: string): boolean {
  const [own, limit] = [parseRelease(release ?? ''), parseRelease(`${line}.0`)];
  return limit !== undefined && (own === undefined || compareReleases({ ...own, patch: 0 }, limit) <= 0);
}
