import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Finding } from '../../src/kernel/check.ts';
import { oneFindingEach } from '../../src/kernel/judge.ts';

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
