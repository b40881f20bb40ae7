import type { ExpectationTypes, PreconditionTypes } from '../../kernel/effect-type.ts';
import { deleteNamed } from './delete-old.ts';
import type { SuccessorExpected, WayBackExpected } from './successor-stands.ts';
import { assertSuccessor, assertWayBack } from './successor-stands.ts';
import type { EndpointsExpected } from './wait-host-endpoints.ts';
import { waitHostEndpoints } from './wait-host-endpoints.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'host-endpoints': EndpointsExpected;
  }
  interface Preconditions {
    readonly successor: SuccessorExpected;
    readonly 'way-back': WayBackExpected;
  }
}

export const hostExpectations: Pick<ExpectationTypes, 'host-endpoints'> = {
  'host-endpoints': {
    async wait(ports, expected, { timeoutMs, stop, report }) {
      await waitHostEndpoints(ports, expected, { timeoutMs, signal: stop, report });
      return {};
    },
    text: ({ nodes }) => `the automatic host endpoints of ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`,
  },
};

export const hostPreconditions: Pick<PreconditionTypes, 'successor' | 'way-back'> = {
  successor: {
    assert: assertSuccessor,
    run: (ports, effect, { old }, { cut, onLine }) =>
      deleteNamed(
        ports,
        effect,
        old.map(({ name }) => name),
        cut,
        onLine,
      ),
  },
  'way-back': { assert: assertWayBack },
};
