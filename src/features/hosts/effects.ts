import type { Effect } from '../../kernel/action.ts';
import { type EnginePorts, type ExpectationTypes, type OnLine, type PreconditionTypes, runTool } from '../../kernel/effect-type.ts';
import { Fault, Outdated } from '../../kernel/fault.ts';
import type { KeptOutcome } from '../../kernel/run-record.ts';
import { assertSuccessor, assertWayBack, type SuccessorExpected, type WayBackExpected } from './successor-stands.ts';
import { type EndpointsExpected, waitHostEndpoints } from './wait-host-endpoints.ts';

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

type Removal = Pick<Extract<Effect, { type: 'exec' }>, 'run' | 'program'>;

/**
 * Lets the service's CLI delete objects of these names; it continues past a missing one and fails at the end (host endpoint notes 2). Then
 * somebody else removed it, so it is not ours to put back: throws Outdated if nothing else failed.
 */
export async function deleteNamed(
  ports: EnginePorts,
  effect: Removal,
  names: readonly string[],
  signal: AbortSignal,
  onLine: OnLine,
): Promise<void> {
  const said: string[] = [];
  try {
    await runTool(ports, effect, signal, (line, stream) => {
      said.push(line);
      onLine(line, stream);
    });
  } catch (thrown) {
    const except = thrown instanceof Fault && thrown.code === 'failed' ? removedBefore(said, names) : [];
    if (except.length === 0) throw thrown;
    const outcome: KeptOutcome = { done: except.length < names.length, except };
    throw new Outdated(`somebody else removed ${except.join(', ')} meanwhile`, outcome);
  }
}

const ABSENT = /^failed to delete .*: resource does not exist: \w+\(([^)]+)\)/i;
const DELETED = /^Successfully deleted (\d+) /i;

/** Which of the names were not there; none where it is not sure what became of each of the others. */
function removedBefore(said: readonly string[], names: readonly string[]): readonly string[] {
  const absent = said.flatMap((line) => ABSENT.exec(line)?.[1] ?? []).filter((name) => names.includes(name));
  const deleted = said.reduce((sum, line) => sum + Number(DELETED.exec(line)?.[1] ?? 0), 0);
  return absent.length + deleted === names.length ? absent : [];
}
