import assert from 'node:assert/strict';
import { readInstalled } from '../../../src/features/survey/installed.ts';
import { applyBench } from '../../support/apply-bench.ts';

describe('a cluster without the service', () => {
  it('is refused naming the profile, and how to name another', async () => {
    const { sources, context } = applyBench([]);
    await assert.rejects(readInstalled(sources, context), (thrown: Error & { code?: string; suggestions?: readonly string[] }) => {
      assert.equal(thrown.code, 'blocked');
      assert.match(thrown.message, / \(profile netsvc\)$/);
      assert.match(thrown.suggestions?.[0] ?? '', /^leave --profile out/);
      return true;
    });
  });
});
