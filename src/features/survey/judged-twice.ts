import type { Check } from '../../kernel/check.ts';
import type { CheckId } from '../../kernel/check-titles.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { defineCheck, preflightCheck, withInstallation } from './define-check.ts';
import type { PreflightFacts } from './facts.ts';

/** What tells where an upgrade starts from; every stage that writes the target knows it. */
export interface SourceJudged {
  readonly installation: Installation;
  readonly record: RunRecord | undefined;
}

interface JudgedTwice extends Pick<Check<never>, 'category' | 'severity' | 'ref'> {
  judge(installation: Installation, facts: Pick<PreflightFacts, 'record'>, context: Context): ReturnType<Check<never>['judge']>;
}

/** One judgement for two occasions: the preflight's, and that of a stage right before it writes, which may be asked for alone. */
export function judgedTwice(id: CheckId, { judge, ...rest }: JudgedTwice) {
  return {
    atPreflight: preflightCheck(id, { ...rest, judge: withInstallation(judge) }),
    beforeWrite: defineCheck<SourceJudged>(id, {
      ...rest,
      judge: ({ installation, record }, context) => judge(installation, { record: { value: record } }, context),
    }),
  };
}
