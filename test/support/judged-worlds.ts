import type { Check, CheckId, Finding } from '../../src/kernel/check.ts';
import type { Context } from '../../src/kernel/context.ts';
import { judgeAll as judged } from '../../src/kernel/judge.ts';

/** A world in which a check says what to do next. */
export interface JudgedWorld {
  readonly check: Check<never>;
  readonly checks: readonly Check<never>[];
  readonly facts: unknown;
  readonly context: Context;
  readonly finding: Finding & { readonly next: string };
}

/** Every world that a test of a check has judged in this process: next-steps.test.ts follows what each of them prints. */
export const worlds: JudgedWorld[] = [];

/** `judgeAll` of the product, which also notes what it judged. */
export function judgeAll<Facts>(checks: readonly Check<Facts>[], facts: Facts, context: Context): readonly Finding[] {
  const findings = judged(checks, facts, context);
  for (const [index, finding] of findings.entries()) {
    const [check, { next }] = [checks[index], finding];
    if (check && next !== undefined)
      worlds.push({ check, checks, facts, context, finding: { ...finding, next } } as unknown as JudgedWorld);
  }
  return findings;
}

/** The same of what a stage found by itself. */
export function noteFound(context: Context, findings: readonly Finding[]): readonly Finding[] {
  const checks = findings.map(checkOf);
  judgeAll(checks, undefined, context);
  return findings;
}

function checkOf({ id, title, category, ref, outcome, message: because, hint = '', next, evidence }: Finding): Check<undefined> {
  const isOpen = outcome === 'error' || outcome === 'warning';
  const verdict = { status: 'failed', because, hint, evidence, ...(next === undefined ? {} : { next }) } as const;
  return {
    id: id as CheckId,
    title,
    category,
    ref,
    severity: outcome === 'warning' ? 'warning' : 'error',
    judge: () => (isOpen ? verdict : { status: 'ok' }),
  };
}
