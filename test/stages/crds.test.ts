import assert from 'node:assert/strict';
import { crdsStage } from '../../src/stages/crds.ts';
import { applyBench, installedClientSide } from '../support/apply-bench.ts';

describe('the crds stage', () => {
  it('has nothing to do for a full manifest, which holds the CRDs, and says so', async () => {
    const { sources, context } = applyBench(await installedClientSide('v3.26.4'));
    const plan = (await crdsStage.open(sources, context)).plan();
    assert.deepEqual(plan, { skip: 'the full manifest holds the CRDs: apply installs them first' });
  });
});
