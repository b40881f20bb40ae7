import { counted } from '../../kernel/counted.ts';
import type { EnginePorts, Report } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import {
  type AutomaticSigns,
  type ExpectedCoverage,
  type HostEndpoint,
  hostEndpointOf,
  type Uncovered,
  whyUncovered,
} from '../policy-rules/index.ts';
import { type CliCall, cliList } from '../service-cli/index.ts';

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

type Ports = Pick<EnginePorts, 'cluster' | 'tools' | 'clock'>;

interface EndpointWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** The CLI cannot watch. */
const POLL_MS = 3_000;

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
    return new Fault('interrupted', 'stopped while waiting for the automatic host endpoints', ['run the same command again']);
  const what = `${open.length} of ${counted(of, 'node')} without a complete automatic host endpoint`;
  return new Fault('timeout', `${what} after ${Math.round(timeoutMs / 1000)} s: ${laggards(open) ?? 'nothing was read'}`, [
    'look at the log of the controllers: they wait for the agents’ rollout before they make endpoints',
    'fix what is named above, then run the same command again',
  ]);
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
    board.replaceAll(await cliList(ports, cli, 'hostendpoints'));
    yield;
    await ports.clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
}

/** Which expected nodes lack their automatic endpoint; each change is evaluated for its own node only. */
class EndpointBoard {
  readonly #expected: ReadonlyMap<string, ExpectedCoverage>;
  readonly #signs: AutomaticSigns;
  readonly #apiGroup: string;
  readonly #endpoints = new Map<string, HostEndpoint>();
  readonly #open = new Map<string, string>();

  constructor(expected: readonly ExpectedCoverage[], signs: AutomaticSigns, apiGroup: string) {
    this.#expected = new Map(expected.map((one) => [one.node, one]));
    this.#signs = signs;
    this.#apiGroup = apiGroup;
  }

  get open(): readonly Uncovered[] {
    return [...this.#open].map(([node, why]) => ({ node, why }));
  }

  replaceAll(objects: readonly KubeObject[]): void {
    this.#endpoints.clear();
    for (const object of objects) this.#endpoints.set(object.metadata.name, hostEndpointOf(object, this.#apiGroup));
    const byNode = Map.groupBy(this.#endpoints.values(), ({ node }) => node);
    for (const node of this.#expected.keys()) this.#judge(node, byNode.get(node) ?? []);
  }

  put(object: KubeObject): void {
    const endpoint = hostEndpointOf(object, this.#apiGroup);
    this.#endpoints.set(endpoint.name, endpoint);
    this.#judgeAgain(endpoint.node);
  }

  drop(object: KubeObject): void {
    const gone = this.#endpoints.get(object.metadata.name);
    this.#endpoints.delete(object.metadata.name);
    if (gone) this.#judgeAgain(gone.node);
  }

  #judgeAgain(node: string): void {
    if (this.#expected.has(node))
      this.#judge(
        node,
        [...this.#endpoints.values()].filter((endpoint) => endpoint.node === node),
      );
  }

  #judge(node: string, endpoints: readonly HostEndpoint[]): void {
    const expected = this.#expected.get(node);
    const why = expected && whyUncovered(expected, endpoints, this.#signs);
    if (why === undefined) this.#open.delete(node);
    else this.#open.set(node, why);
  }
}
