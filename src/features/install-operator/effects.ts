import type { ExpectationTypes } from '../../kernel/effect-type.ts';
import type { ApiServicesExpected } from './wait-apiservice.ts';
import { waitApiServices } from './wait-apiservice.ts';
import type { OperatorExpected } from './wait-operator.ts';
import { waitOperator } from './wait-operator.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'apiservice-available': ApiServicesExpected;
    readonly 'operator-end': OperatorExpected;
  }
}

export const operatorExpectations: Pick<ExpectationTypes, 'apiservice-available' | 'operator-end'> = {
  'apiservice-available': {
    async wait({ cluster, clock }, { names }, { timeoutMs, stop }) {
      await waitApiServices(cluster, clock, names, timeoutMs, stop);
      return {};
    },
    text: ({ names }) => `APIService ${names.join(', ')}`,
  },
  'operator-end': {
    async wait(ports, expected, { timeoutMs, stop, report, warn }) {
      await waitOperator(ports, expected, { timeoutMs, signal: stop, report, warn });
      return {};
    },
    text: ({ target }) => `the operator to bring every component to ${target.release}`,
  },
};
