import { type Check, notApplicable, read } from '../../kernel/check.ts';
import { baseKnown, checksAhead } from '../install-manifest/index.ts';
import type { WholePreflight } from './facts.ts';

/**
 * The checks of `apply` where a preflight is asked for alone: what stops a plan is known before anybody plans. In a chain that continues to
 * `apply`, that stage evaluates them, and shows what it evaluates by.
 */
export const aheadOfApply: readonly Check<WholePreflight>[] = checksAhead.map((check) => ({
  ...check,
  judge(facts, context) {
    if (facts.ahead === undefined) return notApplicable('checked by apply');
    // One reason is told once: where the target was read, by the check of what it is compared with.
    if ('unread' in facts.ahead && ('unread' in facts.target || check.id !== baseKnown.id)) return notApplicable('the target was not read');
    return check.judge(read(facts.ahead), context);
  },
}));
