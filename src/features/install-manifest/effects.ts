import { counted } from '../../kernel/counted.ts';
import type { ExpectationTypes } from '../../kernel/effect-type.ts';
import type { CrdsEstablished } from './wait-crds-established.ts';
import { waitCrds } from './wait-crds-established.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'crds-established': CrdsEstablished;
  }
}

export const manifestExpectations: Pick<ExpectationTypes, 'crds-established'> = {
  'crds-established': {
    async wait(ports, expected, { timeoutMs, stop, report }) {
      await waitCrds(ports, expected, { timeoutMs, signal: stop, report });
      return {};
    },
    text: ({ names }) => `${counted(names.length, 'CRD')} to be established`,
  },
};
