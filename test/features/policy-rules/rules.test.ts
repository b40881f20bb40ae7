import assert from 'node:assert/strict';
import { globalPolicyOf } from '../../../src/features/policy-rules/global-policy.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { GROUP, policy } from './fleet.ts';
import { IGNORED, VALID } from './ignored-rule-cases.ts';

const read = (rule: object, way: 'ingress' | 'egress' = 'ingress') =>
  globalPolicyOf(policy('p', 'all()', { [way]: [{ action: 'Log' }, { action: 'Allow', ...rule }] }), { apiGroup: GROUP });
describe('a policy that the agents ignore for one of its rules', () => {
  for (const [rule, says] of IGNORED) {
    it(`is not taken for one in force: ${JSON.stringify(rule)}`, () => {
      for (const way of ['ingress', 'egress'] as const) {
        assert.throws(
          () => read(rule, way),
          (thrown) =>
            thrown instanceof Fault &&
            thrown.message === `GlobalNetworkPolicy/p: spec.${way}[1].${says}; for this rule the agents ignore the whole policy`,
        );
      }
    });
  }

  for (const rule of VALID) {
    it(`is none with ${JSON.stringify(rule)}`, () => {
      assert.equal(read(rule).rules.ingress.length, 2);
    });
  }
});
