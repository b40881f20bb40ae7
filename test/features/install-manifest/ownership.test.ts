import assert from 'node:assert/strict';
import { applyBench, installedClientSide, openApply } from '../../support/apply-bench.ts';

describe('the ownership of what was applied client-side', () => {
  it('is taken over first, and the plan says so', async () => {
    const plan = (await openApply(applyBench(await installedClientSide('v3.26.4')))).plan();
    assert.match('skip' in plan ? '' : (plan.notes ?? []).join('\n'), /^field ownership of 17 objects is taken over first/m);
  });
});
