import assert from 'node:assert/strict';
import { preflightChecks, type WholePreflight } from '../../src/features/preflight/catalogue.ts';
import type { Check, CheckId, Finding } from '../../src/kernel/check.ts';
import type { Command } from '../../src/kernel/command.ts';
import type { Context } from '../../src/kernel/context.ts';
import { judgeAll as judged } from '../../src/kernel/judge.ts';
import { contextOf, healthy } from '../fixtures/facts.ts';

/** A world in which a check says what to do next. */
export interface JudgedWorld {
  readonly check: Check<never>;
  readonly checks: readonly Check<never>[];
  readonly facts: unknown;
  readonly context: Context;
  readonly finding: Finding & { readonly next: Command };
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

interface CheckCase {
  readonly facts?: Partial<WholePreflight>;
  readonly context?: Context;
  readonly is: Finding['outcome'];
  /** What the finding's message must say. */
  readonly says?: RegExp;
  /** Texts of the evidence. */
  readonly about?: readonly string[];
  /** Details of the evidence, one by one. */
  readonly details?: readonly RegExp[];
  readonly hint?: RegExp;
  /** What its `fix:` says, without that word. */
  readonly fix?: RegExp;
  readonly next?: RegExp;
  readonly exit?: string;
}

/** One sentence per case: what the healthy cluster is changed to, and what the check makes of it. */
/** `usual`: what the cases are judged in that say no context. */
export function checkCases(id: CheckId, cases: Readonly<Record<string, CheckCase>>, usual = contextOf()): void {
  const check = preflightChecks.filter((one) => one.id === id);
  describe(`${id} ${check[0]?.title}`, () => {
    for (const [title, { facts, context = usual, ...wanted }] of Object.entries(cases)) {
      it(title, () => {
        const [finding] = judgeAll(check, { ...healthy, ...facts }, context);
        assert.ok(finding, `${id} is not in the catalogue`);
        assertFinding(finding, wanted);
      });
    }
  });
}

/** The command that repairs it, as text; empty if it says none. */
export const fixOf = ({ steps = [] }: Finding): string => steps.find(({ kind }) => kind === 'fix')?.text.plain ?? '';

function assertFinding(
  finding: Finding,
  { is, says, about, details = [], hint, fix, next, exit }: Omit<CheckCase, 'facts' | 'context'>,
): void {
  assert.equal(finding.outcome, is, finding.message);
  if (says) assert.match(finding.message, says);
  if (hint) assert.match(finding.hint ?? '', hint);
  if (fix) assert.match(fixOf(finding), fix);
  if (next) assert.match(String(finding.next ?? ''), next);
  if (exit) assert.equal(finding.exit, exit);
  for (const [index, detail] of details.entries()) assert.match(finding.evidence[index]?.detail ?? '', detail);
  if (about)
    assert.deepEqual(
      finding.evidence.map(({ text }) => text),
      about,
    );
}
