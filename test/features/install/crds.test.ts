import assert from 'node:assert/strict';
import { crdsStage } from '../../../src/features/install/around.ts';
import { applyBench, installedClientSide } from '../../support/apply-bench.ts';
import { type Operated, ORDER, operatedBench, TYPHA, unheld } from '../../support/operated-bench.ts';

describe('the crds stage', () => {
  it('has nothing to do for a full manifest, which holds the CRDs, and says so', async () => {
    const { sources, context } = applyBench(await installedClientSide('v3.26.4'));
    const plan = (await crdsStage.open(sources, context)).plan();
    assert.deepEqual(plan, { skip: 'the full manifest holds the CRDs: apply installs them first' });
  });

  describe('before an operator that nothing keeps from replacing agents and Typha in the same second', () => {
    const [check, subject] = [ORDER, TYPHA];
    const opened = async (parts: Operated = {}) => {
      const bench = await operatedBench({ profile: unheld, ...parts });
      return { ...bench, open: () => crdsStage.open(bench.sources, bench.context) };
    };
    const outcome = async ({ open }: Awaited<ReturnType<typeof opened>>) =>
      (await open()).findings().find(({ id }) => id === check)?.outcome;

    it('NS-251: is refused until that is taken on by name: between the CRDs and the operator there may be no pause', async () => {
      assert.equal(await outcome(await opened()), 'error');
      assert.equal(await outcome(await opened({ options: { accept: [{ check, subject }] } })), 'accepted');
    });

    it('NS-251: is left to apply once the CRDs are there', async () => {
      const bench = await opened();
      const plan = (await bench.open()).plan();
      assert.ok('actions' in plan);
      for (const action of plan.actions) bench.around.perform(action);
      assert.equal(await outcome(bench), 'not-applicable');
    });
  });
});
