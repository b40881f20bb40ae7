import type { ExpectationTypes, PreconditionTypes } from '../../kernel/effect-type.ts';
import type { PoliciesSettled, RenamingHeld } from './wait-policies.ts';
import { assertHeld, assertSettled, waitPolicies } from './wait-policies.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'policies-settled': PoliciesSettled;
    readonly 'renaming-held': RenamingHeld;
  }
  interface Preconditions {
    readonly 'policies-settled': PoliciesSettled;
  }
}

export const policyExpectations: Pick<ExpectationTypes, 'policies-settled' | 'renaming-held'> = {
  'policies-settled': {
    async wait(ports, expected, { timeoutMs, stop, report }) {
      await waitPolicies(ports, expected, { timeoutMs, signal: stop, report });
      return {};
    },
    text: () => 'the new names of stored policies, or the hold of their renaming',
  },
  'renaming-held': {
    async wait({ cluster }, expected) {
      await assertHeld(cluster, expected);
      return {};
    },
    text: ({ field, kind, name }) => `${field}: Disabled of ${kind.kind}/${name}`,
  },
};

export const policyPreconditions: Pick<PreconditionTypes, 'policies-settled'> = {
  'policies-settled': { assert: (ports, expected, { stop }) => assertSettled(ports, expected, stop) },
};
