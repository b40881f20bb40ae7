import type { CliCall, EndpointsExpected } from '../core/action.ts';
import { cliObjects } from '../core/cli-answer.ts';
import type { Uncovered } from '../core/endpoint-coverage.ts';
import { Fault } from '../core/fault.ts';
import type { Kind, KubeObject } from '../core/object.ts';
import { EndpointBoard } from './endpoint-board.ts';
import type { EnginePorts } from './engine-ports.ts';
import { Outdated } from './outdated.ts';
import type { Report } from './report.ts';

type Ports = Pick<EnginePorts, 'cluster' | 'tools' | 'clock'>;

export interface EndpointWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly report: Report;
}

const CLI_LIMIT_MS = 60_000;
/** The CLI cannot watch. */
const POLL_MS = 3_000;
const CONTINUE = ['mend what is named above, then continue with the same command'];

/** Waits until every node has its automatic endpoint. Throws Fault `timeout` (naming what lags) or `interrupted`. */
export async function waitHostEndpoints(ports: Ports, expected: EndpointsExpected, wait: EndpointWait): Promise<void> {
  const end = new AbortController();
  const limit = AbortSignal.any([wait.signal, end.signal]);
  void ports.clock.sleep(wait.timeoutMs, limit).then(
    () => end.abort(),
    () => undefined,
  );
  const { from, nodes } = expected;
  const board = new EndpointBoard(nodes, expected.signs, expected.apiGroup);
  try {
    for await (const _change of 'kind' in from ? watched(ports, board, from.kind, limit) : polled(ports, board, from.cli, limit)) {
      const { open } = board;
      wait.report(nodes.length - open.length, nodes.length, 'automatic host endpoints', laggards(open));
      if (open.length === 0) return;
    }
  } finally {
    end.abort();
  }
  throw ending(board.open, nodes.length, wait);
}

function ending(open: readonly Uncovered[], of: number, { signal, timeoutMs }: EndpointWait): Fault {
  if (signal.aborted)
    return new Fault('interrupted', 'stopped while waiting for the automatic host endpoints', ['continue with the same command']);
  const what = `${open.length} of ${of} nodes have no complete automatic host endpoint`;
  return new Fault('timeout', `${what} after ${Math.round(timeoutMs / 1000)} s: ${laggards(open) ?? 'nothing was read'}`, [
    'look at the log of the controllers: they wait for the agents’ rollout before they make endpoints',
    ...CONTINUE,
  ]);
}

/** Throws Outdated if the expectation does not hold at this moment. */
export async function assertStillHolds(ports: Ports, expected: EndpointsExpected): Promise<void> {
  const board = new EndpointBoard(expected.nodes, expected.signs, expected.apiGroup);
  board.replaceAll(await endpointsNow(ports, expected));
  const [first] = board.open;
  if (first) throw new Outdated(`${first.node}: ${first.why}`);
}

/** Of one node by its name, without a list of the fleet; names that had to be shortened are found in the list. */
async function endpointsNow(ports: Ports, { from, nodes, signs }: EndpointsExpected): Promise<readonly KubeObject[]> {
  if ('cli' in from) return askCli(ports, from.cli);
  const [only, ...more] = nodes;
  const one = only && more.length === 0 ? await ports.cluster.get(from.kind, `${only.node}${signs.autoHepSuffix}`) : undefined;
  return one ? [one] : ports.cluster.list(from.kind);
}

function laggards(open: readonly Uncovered[]): string | undefined {
  if (open.length === 0) return undefined;
  const named = open.slice(0, 3).map(({ node, why }) => `${node}: ${why}`);
  return `${named.join('; ')}${open.length > 3 ? `; and ${open.length - 3} more` : ''}`;
}

async function* watched(ports: Ports, board: EndpointBoard, kind: Kind, signal: AbortSignal): AsyncGenerator<void> {
  for await (const update of ports.cluster.watch(kind, { signal })) {
    if (update.type === 'snapshot') board.replaceAll(update.items);
    else if (update.type === 'changed') board.put(update.object);
    else board.drop(update.object);
    yield;
  }
}

async function* polled(ports: Ports, board: EndpointBoard, cli: CliCall, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    board.replaceAll(await askCli(ports, cli));
    yield;
    await ports.clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
}

async function askCli({ tools }: Ports, { program, args }: CliCall): Promise<readonly KubeObject[]> {
  const run = { tool: 'netsvcctl', args: ['get', 'hostendpoints', '-o', 'json', ...args] } as const;
  const answer = await tools.run(run, { program, timeoutMs: CLI_LIMIT_MS });
  if (answer.exitCode === 0) return cliObjects(answer.stdout);
  throw new Fault('failed', `${program} could not list the host endpoints: ${answer.stderr.trim() || answer.problem}`, CONTINUE);
}
