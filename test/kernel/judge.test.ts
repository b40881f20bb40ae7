import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Check, Finding } from '../../src/kernel/check.ts';
import { judgeAll, oneFindingEach } from '../../src/kernel/judge.ts';
import { contextOf } from '../fixtures/facts.ts';

/** `warning a b`: outcome and subjects; a `*` before it marks another check. */
function finding(text: string, index: number): Finding {
  const [outcome = '', ...subjects] = text.replace('*', '').split(' ');
  return {
    id: text.startsWith('*') ? 'NS-002' : 'NS-001',
    ...{ title: 't', category: 'nodes', ref: '§1', message: `judged ${index}` },
    outcome: outcome as Finding['outcome'],
    evidence: subjects.map((one) => ({ text: one })),
  };
}

describe('a check that several stages judged', () => {
  for (const [title, judged, left] of [
    ['that passed everywhere is there once, as it was judged last', ['ok', 'ok', 'ok'], [2]],
    ['that a later stage has no use for is there as it passed', ['ok', 'ok', 'not-applicable'], [1]],
    ['that applies nowhere is there once', ['not-applicable', 'not-applicable'], [1]],
    ['that is open once stays open, whatever the others say', ['ok', 'warning a', 'ok'], [1]],
    ['is as bad as it was judged at worst', ['warning a', 'error a', 'warning a'], [1]],
    ['that is open twice about the same is there once', ['warning a b', 'warning b a'], [1]],
    ['that is open about less and about more is there as it is about more', ['warning a b', 'warning b'], [0]],
    ['that is open about different things is there for each', ['error a', 'error b', 'ok'], [0, 1]],
    ['that is accepted about one thing and open about another is there for both', ['accepted a', 'warning b'], [0, 1]],
    ['that was accepted stays so although it passes later', ['accepted a', 'ok'], [0]],
    ['that the run has cured says so although it passes later', ['cured a', 'ok'], [0]],
    ['that was expected and then passes has passed', ['expected a', 'ok'], [1]],
    ['leaves other checks alone', ['ok', '*warning a', 'ok', '*ok'], [1, 2]],
  ] as const)
    it(title, () => {
      const findings = judged.map(finding);
      assert.deepEqual(
        oneFindingEach(findings),
        left.map((index) => findings[index]),
      );
    });

  it('leaves what is judged once as it is, loses no check, and comes to rest at once', () => {
    const outcome = fc.constantFrom('ok', 'not-applicable', 'warning a', 'warning a b', 'error b', 'error', 'accepted a', 'cured a', '*ok');
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 8 }), (judged) => {
        const findings = judged.map(finding);
        const left = oneFindingEach(findings);
        assert.deepEqual(new Set(left.map(({ id }) => id)), new Set(findings.map(({ id }) => id)));
        assert.deepEqual(oneFindingEach(left), left);
        const twice = [...findings, ...findings];
        assert.deepEqual(oneFindingEach(twice).length, left.length);
        for (const open of ['error', 'warning'])
          assert.ok(!findings.some((one) => one.outcome === open) || left.some((one) => ['error', 'warning'].includes(one.outcome)));
      }),
    );
  });
});

describe('a subject after --accept that the finding does not have', () => {
  const HINT = 'Fix it.';
  const hint = (subjects: readonly string[], accepted: readonly string[], more: { readonly leavesOutAccepted?: true } = {}) => {
    const check: Check<undefined> = {
      ...{ id: 'NS-712', title: 't', category: 'nodes', severity: 'error', ref: '§1' },
      judge: () => ({ status: 'failed', because: 'b', hint: HINT, evidence: subjects.map((text) => ({ text })), ...more }),
    };
    const accept = accepted.map((subject) => ({ check: subject.startsWith('*') ? 'NS-711' : 'NS-712', subject: subject.replace('*', '') }));
    return judgeAll([check], undefined, contextOf({ accept }))[0]?.hint;
  };

  for (const [title, subjects, accepted, said] of [
    [
      'is named beside those that it has',
      ['node-01', 'node-02'],
      ['node-1'],
      'NS-712 was accepted for node-1, which is none of its subjects here; still open: node-01, node-02',
    ],
    [
      'is named beside those alone that are not accepted',
      ['node-01', 'node-02'],
      ['node-2', 'node-01'],
      'NS-712 was accepted for node-2, which is none of its subjects here; still open: node-02',
    ],
    [
      'is named with the first five of many',
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
      ['x', 'y'],
      'NS-712 was accepted for x, y, which are none of its subjects here; still open: a, b, c, d, e and 2 more',
    ],
    ['is named where there are no subjects', [], ['node-1'], 'NS-712 was accepted for node-1, but it has no subjects here'],
    [
      'cannot begin a line of its own',
      ['a\nb'],
      ['c\nd'],
      'NS-712 was accepted for c\\nd, which is none of its subjects here; still open: a\\nb',
    ],
  ] as const)
    it(title, () => assert.equal(hint(subjects, accepted), `${said}\n${HINT}`));

  it('is not named where all that it has is accepted, or the acceptance is of another check', () => {
    assert.equal(hint(['node-01'], ['node-1', 'node-01']), HINT);
    assert.equal(hint(['node-01', 'node-02'], ['node-01', '*node-1']), HINT);
  });

  it('is not named by a check that leaves out what was accepted', () =>
    assert.equal(hint(['node-02'], ['node-01'], { leavesOutAccepted: true }), HINT));
});
