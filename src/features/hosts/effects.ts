import type { Exec } from '../../kernel/action.ts';
import { counted } from '../../kernel/counted.ts';
import {
  type Around,
  type EnginePorts,
  type ExpectationTypes,
  type OnLine,
  type Performed,
  type PreconditionTypes,
  runTool,
} from '../../kernel/effect-type.ts';
import { Fault, Outdated } from '../../kernel/fault.ts';
import type { Kind } from '../../kernel/object.ts';
import type { WatchUpdate } from '../../kernel/ports.ts';
import type { KeptOutcome } from '../../kernel/run-record.ts';
import { AGAIN, text } from '../../kernel/step.ts';
import {
  type AutomaticSigns,
  type ExpectedCoverage,
  type HostEndpoint,
  hostEndpointOf,
  type Uncovered,
  whyUncovered,
} from '../policy-rules/index.ts';
import { type CliCall, cliList } from '../service-cli/index.ts';
import { assertSuccessor, assertWayBack, type SuccessorExpected, type WayBackExpected } from './successor-stands.ts';

/** Every node has its automatic host endpoint, complete. */
export interface EndpointsExpected {
  readonly type: 'host-endpoints';
  readonly nodes: readonly ExpectedCoverage[];
  readonly signs: AutomaticSigns;
  /** Group of the annotation with the stored labels. */
  readonly apiGroup: string;
  /** Where they are read: the stored resources of the API, or the service's CLI in key-value mode. */
  readonly from: { readonly kind: Kind } | { readonly cli: CliCall };
}

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
    wait: waitHostEndpoints,
    text: ({ nodes }) => `the automatic host endpoints of ${counted(nodes.length, 'node')}`,
  },
};

export const hostPreconditions: Pick<PreconditionTypes, 'successor' | 'way-back'> = {
  successor: {
    assert: assertSuccessor,
    run(ports, effect, { old }, { cut, onLine }) {
      const names = old.map(({ name }) => name);
      return deleteNamed(ports, effect, names, cut, onLine);
    },
  },
  'way-back': { assert: assertWayBack },
};

type Ports = Pick<EnginePorts, 'cluster' | 'tools' | 'clock'>;

type Wait = Pick<Around, 'stop' | 'report'> & { readonly timeoutMs: number };

/** The CLI cannot watch. */
const POLL_MS = 3_000;

/** Waits until every node has its automatic endpoint. Throws Fault `timeout` (naming what lags) or `interrupted`. */
async function waitHostEndpoints(ports: Ports, expected: EndpointsExpected, wait: Wait): Promise<Performed> {
  const end = new AbortController();
  const limit = AbortSignal.any([wait.stop, end.signal]);
  void ports.clock.sleep(wait.timeoutMs, limit).then(
    () => end.abort(),
    () => undefined,
  );
  const { from, nodes } = expected;
  const board = new EndpointBoard(expected);
  try {
    for await (const update of 'kind' in from ? ports.cluster.watch(from.kind, { signal: limit }) : polled(ports, from.cli, limit)) {
      board.take(update);
      const { open } = board;
      wait.report(nodes.length - open.length, nodes.length, 'automatic host endpoints', laggards(open));
      if (open.length === 0) return {};
    }
  } finally {
    end.abort();
  }
  throw ending(board.open, nodes.length, wait);
}

function ending(open: readonly Uncovered[], of: number, { stop, timeoutMs }: Wait): Fault {
  if (stop.aborted) return new Fault('interrupted', 'stopped while waiting for the automatic host endpoints', [AGAIN]);
  const what = `${open.length} of ${counted(of, 'node')} without a complete automatic host endpoint`;
  return new Fault('timeout', `${what} after ${Math.round(timeoutMs / 1000)} s: ${laggards(open) ?? 'nothing was read'}`, [
    'look at the log of the controllers: they wait for the agents’ rollout before they make endpoints',
    text`fix what is named above, then ${AGAIN}`,
  ]);
}

function laggards(open: readonly Uncovered[]): string | undefined {
  if (open.length === 0) return undefined;
  const named = open.slice(0, 3).map(({ node, why }) => `${node}: ${why}`);
  return `${named.join('; ')}${open.length > 3 ? `; and ${open.length - 3} more` : ''}`;
}

async function* polled(ports: Ports, cli: CliCall, signal: AbortSignal): AsyncGenerator<WatchUpdate> {
  while (!signal.aborted) {
    yield { type: 'snapshot', items: await cliList(ports, cli, 'hostendpoints') };
    await ports.clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
}

/** Which expected nodes lack their automatic endpoint; each change is evaluated for its own node only. */
class EndpointBoard {
  readonly #expected: EndpointsExpected;
  readonly #endpoints = new Map<string, HostEndpoint>();
  readonly #open = new Map<string, string>();

  constructor(expected: EndpointsExpected) {
    this.#expected = expected;
  }

  get open(): readonly Uncovered[] {
    return [...this.#open].map(([node, why]) => ({ node, why }));
  }

  take(update: WatchUpdate): void {
    const { nodes, signs, apiGroup } = this.#expected;
    const isWhole = update.type === 'snapshot';
    const read = (isWhole ? update.items : [update.object]).map((one) => hostEndpointOf(one, apiGroup));
    if (isWhole) this.#endpoints.clear();
    for (const one of read) {
      if (update.type === 'deleted') this.#endpoints.delete(one.name);
      else this.#endpoints.set(one.name, one);
    }
    const byNode = Map.groupBy(this.#endpoints.values(), ({ node }) => node);
    for (const one of isWhole ? nodes : nodes.filter(({ node }) => node === read[0]?.node)) {
      const why = whyUncovered(one, byNode.get(one.node) ?? [], signs);
      if (why === undefined) this.#open.delete(one.node);
      else this.#open.set(one.node, why);
    }
  }
}

/**
 * Lets the service's CLI delete objects of these names; it continues past a missing one and fails at the end (host endpoint notes 2). Then
 * somebody else removed it, so it is not ours to put back: throws Outdated if nothing else failed.
 */
export async function deleteNamed(
  ports: EnginePorts,
  effect: Pick<Exec, 'run' | 'program'>,
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
