import type { JsonPatchOp, Kind, KubeObject, ObjectRef } from '../../src/core/object.ts';
import { ApiFailure, type Cluster, type ListOptions } from '../../src/core/ports.ts';
import { Killed } from '../../src/sandbox/api-faults.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';

/** What happens to one request. */
export const FAULTS = ['kill-before', 'kill-after', 409, 429, 500, 503, 'reset', 'timeout-after', 'stale'] as const;
export type RequestFault = (typeof FAULTS)[number];

/** Requests of a process, counted from 1; the one with the fault's number is answered by it. */
export interface FaultyCluster {
  readonly cluster: Cluster;
  /** What was asked so far, in words. */
  readonly requests: readonly string[];
}

export interface FaultyOptions {
  readonly fault?: LineFault;
  /** One that others share, with its own fault. */
  readonly line?: BadLine;
  /** After every patch that was stored. */
  readonly onPatched?: () => Promise<void>;
  /** First answer to each list in this sandbox: what a stale one says. */
  readonly lists: Map<string, readonly KubeObject[]>;
}

/** Whatever a process asks, one question after the other. */
export interface BadLine {
  readonly requests: readonly string[];
  /** `stale`: an outdated answer, where there is one. */
  asked<T>(what: string, perform: () => Promise<T>, stale?: () => T | undefined): Promise<T>;
}

export interface LineFault {
  readonly at: number;
  readonly type: RequestFault;
}

/** Counted from 1; the one with the fault's number fails as it does for an API client. */
export function badLine({ cluster: { faults } }: Scenario, fault?: LineFault): BadLine {
  const requests: string[] = [];
  const kill = (): never => {
    faults.killed = true;
    throw new Killed();
  };
  return {
    requests,
    async asked(what, perform, stale) {
      faults.alive();
      requests.push(what);
      const type = fault?.at === requests.length ? fault.type : undefined;
      if (type === 'kill-before') return kill();
      if (type === 'reset') throw new ApiFailure(0, 'ECONNRESET', 'the connection was reset');
      if (typeof type === 'number') throw new ApiFailure(type, `HTTP ${type}`, `refused by the test (${type})`);
      const old = type === 'stale' ? stale?.() : undefined;
      const answer = old ?? (await perform());
      if (type === 'kill-after') return kill();
      if (type === 'timeout-after') throw new ApiFailure(0, 'ETIMEDOUT', 'no answer in time');
      return answer;
    },
  };
}

/** The cluster as one process sees it through a bad line. */
export function faultyCluster(
  cluster: Cluster,
  scenario: Scenario,
  { fault, onPatched, lists, line = badLine(scenario, fault) }: FaultyOptions,
): FaultyCluster {
  const { requests } = line;
  const asked = line.asked.bind(line);
  const listed = async (kind: Kind, options: ListOptions): Promise<readonly KubeObject[]> => {
    const found = await cluster.list(kind, options);
    const key = `${kind.group}/${kind.plural} ${JSON.stringify(options)}`;
    if (!lists.has(key)) lists.set(key, found);
    return found;
  };
  const text = ({ plural }: Kind, name = '') => `${plural}/${name}`;
  return {
    requests,
    cluster: {
      ...cluster,
      discover: () => asked('discover', () => cluster.discover()),
      resolve: (apiVersion, kind) => asked(`resolve ${kind}`, () => cluster.resolve(apiVersion, kind)),
      reviewAccess: (all) => asked('review', () => cluster.reviewAccess(all)),
      get: (kind, name, namespace) => asked(`get ${text(kind, name)}`, () => cluster.get(kind, name, namespace)),
      list: (kind, options = {}) =>
        asked(
          `list ${text(kind)}`,
          () => listed(kind, options),
          () => lists.get(`${kind.group}/${kind.plural} ${JSON.stringify(options)}`),
        ),
      async patch(kind: Kind, ref: ObjectRef, patch: readonly JsonPatchOp[], manager: string) {
        return asked(`patch ${text(kind, ref.name)}`, async () => {
          const patched = await cluster.patch(kind, ref, patch, manager);
          await onPatched?.();
          return patched;
        });
      },
      create: (kind, object) => asked(`create ${text(kind, object.metadata.name)}`, () => cluster.create(kind, object)),
      replace: (kind, object) => asked(`replace ${text(kind, object.metadata.name)}`, () => cluster.replace(kind, object)),
      remove: (kind, ref) => asked(`remove ${text(kind, ref.name)}`, () => cluster.remove(kind, ref)),
    },
  };
}
