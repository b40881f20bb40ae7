import assert from 'node:assert/strict';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import type { PreflightFacts } from '../../src/features/survey/facts.ts';
import type { CheckId, Finding } from '../../src/kernel/check.ts';
import type { Context } from '../../src/kernel/context.ts';
import { contextOf, healthy } from '../fixtures/facts.ts';
import { judgeAll } from './judged-worlds.ts';

export interface CheckCase {
  readonly facts?: Partial<PreflightFacts>;
  readonly context?: Context;
  readonly is: Finding['outcome'];
  /** What the finding's message must say. */
  readonly says?: RegExp;
  /** Texts of the evidence. */
  readonly about?: readonly string[];
  /** Details of the evidence, one by one. */
  readonly details?: readonly RegExp[];
  readonly hint?: RegExp;
  readonly next?: RegExp;
  readonly exit?: string;
}

/** One sentence per case: what the healthy cluster is changed to, and what the check makes of it. */
export function checkCases(id: CheckId, cases: Readonly<Record<string, CheckCase>>): void {
  const check = preflightChecks.filter((one) => one.id === id);
  describe(`${id} ${check[0]?.title}`, () => {
    for (const [title, { facts, context = contextOf(), ...wanted }] of Object.entries(cases)) {
      it(title, () => {
        const [finding] = judgeAll(check, { ...healthy, ...facts }, context);
        assert.ok(finding, `${id} is not in the catalogue`);
        assertFinding(finding, wanted);
      });
    }
  });
}

function assertFinding(finding: Finding, { is, says, about, details = [], hint, next, exit }: Omit<CheckCase, 'facts' | 'context'>): void {
  assert.equal(finding.outcome, is, finding.message);
  if (says) assert.match(finding.message, says);
  if (hint) assert.match(finding.hint ?? '', hint);
  if (next) assert.match(finding.next ?? '', next);
  if (exit) assert.equal(finding.exit, exit);
  for (const [index, detail] of details.entries()) assert.match(finding.evidence[index]?.detail ?? '', detail);
  if (about)
    assert.deepEqual(
      finding.evidence.map(({ text }) => text),
      about,
    );
}
