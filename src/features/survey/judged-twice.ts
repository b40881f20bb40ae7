import type { Check } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import type { PreflightFacts } from './facts.ts';
import { type PreflightCheck, withInstallation } from './verdicts.ts';

/** What tells where an upgrade starts from; every stage that writes the target knows it. */
export interface SourceJudged {
  readonly installation: Installation;
  readonly record: RunRecord | undefined;
}

interface JudgedTwice extends Pick<Check<never>, 'id' | 'title' | 'category' | 'severity' | 'ref'> {
  judge(installation: Installation, facts: Pick<PreflightFacts, 'record'>, context: Context): ReturnType<Check<never>['judge']>;
}

/** One evaluation for two occasions: the preflight's, and that of a stage right before it writes, which may be asked for alone. */
export function judgedTwice({ judge, ...row }: JudgedTwice): { atPreflight: PreflightCheck; beforeWrite: Check<SourceJudged> } {
  return {
    atPreflight: { ...row, judge: withInstallation(judge) },
    beforeWrite: { ...row, judge: ({ installation, record }, context) => judge(installation, { record: { value: record } }, context) },
  };
}
