import type { ExpectationTypes } from '../../kernel/effect-type.ts';
import type { OperatorExpected } from './wait-operator.ts';
import { waitOperator } from './wait-operator.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'operator-end': OperatorExpected;
  }
}

export const operatorExpectations: Pick<ExpectationTypes, 'operator-end'> = {
  'operator-end': {
    async wait(ports, expected, { timeoutMs, stop, report, warn }) {
      await waitOperator(ports, expected, { timeoutMs, signal: stop, report, warn });
      return {};
    },
    text: ({ target: { release }, firstOf }) =>
      firstOf
        ? `the operator to upgrade the first pod of DaemonSet/${firstOf.namespace}/${firstOf.name} to ${release}`
        : `the operator to upgrade every component to ${release}`,
  },
};
