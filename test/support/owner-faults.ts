import assert from 'node:assert/strict';
import { LEASE_NAME } from '../../src/adapters/lock/lease.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type Cluster, type ListOptions, type WatchUpdate } from '../../src/kernel/ports.ts';
import { Killed } from '../../src/sandbox/api-faults.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';

export function openFindings({ findings }: ChainOutcome): string {
  return findings
    .filter(({ outcome }) => outcome === 'error')
    .map(({ id, message }) => `${id} ${message}`)
    .join('; ');
}

export function assertDone(outcome: ChainOutcome | undefined, where: string): asserts outcome {
  assert.ok(outcome, `${where}: it ended without an outcome`);
  const { exit, message } = outcome;
  assert.deepEqual([exit, message], ['done', undefined], `${where}: ${exit} ${message ?? ''} ${openFindings(outcome)}`);
}

/** What happens to one request. */
export const FAULTS = ['kill-before', 'kill-after', 409, 429, 500, 503, 'reset', 'timeout-after', 'stale', 'expired'] as const;
export type RequestFault = (typeof FAULTS)[number];

/** Every request with every fault that it can meet. */
export function faultPoints(requests: readonly string[]): readonly LineFault[] {
  return requests.flatMap((what, index) => FAULTS.filter((type) => meets(what, type)).map((type) => ({ at: index + 1, type })));
}

/** Requests that change nothing, and say so once. */
export const isRead = (what: string): boolean => /^(get|list|discover|resolve|review|dry run|record load|kept)\b/.test(what);

/** Requests of the lock: its reads decide who may write, so that they may be outdated like lists. */
export const isOfLock = (what: string): boolean => what.endsWith(` ${K.Lease.plural}/${LEASE_NAME}`);

/** Only lists and watches show what was, and only a watch loses its place. A read has nothing to commit: killed after it is killed before the next. */
function meets(what: string, type: RequestFault): boolean {
  if (type === 'expired') return what.startsWith('watch ');
  if (type === 'stale') return /^(list|watch) /.test(what) || (what.startsWith('get ') && isOfLock(what));
  return !isRead(what) || (type !== 'kill-after' && type !== 'timeout-after');
}

export interface FaultyOptions {
  readonly fault?: LineFault;
  /** One that others share, with its own fault. */
  readonly line?: BadLine;
  /** After every patch, replacement and removal that was stored. */
  readonly onWritten?: () => Promise<void>;
  /** First answer to each list and each look at the lock in this sandbox: what a stale one says. */
  readonly lists: Map<string, readonly KubeObject[]>;
}

export type BadLine = ReturnType<typeof badLine>;

export interface LineFault {
  readonly at: number;
  readonly type: RequestFault;
}

/** A connection on which nothing comes is given up after this; so long nothing is heard. */
const SILENCE_MS = 130_000;
/** Until the next try after a watch has ended. */
const GAP_MS = 1_000;

/** Whatever a process asks, one question after the other, counted from 1; the one with the fault's number fails as it does for an API client. */
export function badLine({ cluster: { faults }, clock }: Scenario, fault?: LineFault) {
  const requests: string[] = [];
  const kill = (): never => {
    faults.killed = true;
    throw new Killed();
  };
  /** Counts the request; what it meets at its beginning is thrown, what it meets later returned. */
  const begin = (what: string): RequestFault | undefined => {
    faults.alive();
    requests.push(what);
    const type = fault?.at === requests.length ? fault.type : undefined;
    if (type === 'kill-before') return kill();
    if (type === 'reset') throw new ApiFailure(0, 'ECONNRESET', 'the connection was reset');
    if (typeof type === 'number') throw new ApiFailure(type, `HTTP ${type}`, `refused by the test (${type})`);
    return type;
  };
  return {
    requests,
    /** `stale`: an outdated answer, where there is one. */
    async asked<T>(what: string, perform: () => Promise<T>, stale?: () => { readonly answer: T } | undefined): Promise<T> {
      const type = begin(what);
      const old = type === 'stale' ? stale?.() : undefined;
      const { answer } = old ?? { answer: await perform() };
      if (type === 'kill-after') return kill();
      if (type === 'timeout-after') throw new ApiFailure(0, 'ETIMEDOUT', 'no answer in time');
      return answer;
    },
    /** As the port promises it: it resumes by itself after a break, and sends everything again after a gap. The first answer is the list. */
    async *watched(
      what: string,
      open: () => AsyncIterable<WatchUpdate>,
      { signal, stale }: { readonly signal: AbortSignal; readonly stale: () => readonly KubeObject[] | undefined },
    ): AsyncIterable<WatchUpdate> {
      const pause = (ms: number) => clock.sleep(ms, signal).catch(() => undefined);
      const type = begin(what);
      const old = type === 'stale' ? stale() : undefined;
      if (old) yield { type: 'snapshot', items: old };
      let isFirst = true;
      for await (const update of open()) {
        faults.alive();
        yield update;
        if (!isFirst) continue;
        isFirst = false;
        if (type === 'kill-after') return kill();
        if (type === 'timeout-after') await pause(SILENCE_MS);
        if (type === 'expired') break;
      }
      if (type !== 'expired') return;
      await pause(GAP_MS);
      yield* open();
    },
  };
}

/** The cluster as one process sees it through a bad line, and what was asked so far, in words. */
export function faultyCluster(
  cluster: Cluster,
  scenario: Scenario,
  { fault, onWritten, lists, line = badLine(scenario, fault) }: FaultyOptions,
) {
  const { requests } = line;
  const asked = line.asked.bind(line);
  const keyOf = (kind: Kind, options: ListOptions) => `${kind.group}/${kind.plural} ${JSON.stringify({ ...options, signal: undefined })}`;
  const noted = (key: string, found: readonly KubeObject[]) => {
    if (!lists.has(key)) lists.set(key, found);
    return found;
  };
  const got = async (kind: Kind, name: string, namespace: string | undefined): Promise<KubeObject | undefined> => {
    const found = await cluster.get(kind, name, namespace);
    if (kind === K.Lease) noted(kind.plural, found ? [found] : []);
    return found;
  };
  const stale = <T>(key: string, pick: (found: readonly KubeObject[]) => T) => {
    const found = lists.get(key);
    return found && { answer: pick(found) };
  };
  const written = <T>(what: string, write: () => Promise<T>): Promise<T> =>
    asked(what, async () => {
      const answer = await write();
      await onWritten?.();
      return answer;
    });
  const text = ({ plural }: Kind, { name }: { readonly name: string } = { name: '' }) => `${plural}/${name}`;
  const faulty: Cluster = {
    ...cluster,
    discover: () => asked('discover', () => cluster.discover()),
    resolve: (apiVersion, kind) => asked(`resolve ${kind}`, () => cluster.resolve(apiVersion, kind)),
    reviewAccess: (all) => asked('review', () => cluster.reviewAccess(all)),
    get(kind, name, namespace) {
      const oldLease = () => stale(K.Lease.plural, ([lease]) => lease);
      return asked(`get ${text(kind, { name })}`, () => got(kind, name, namespace), oldLease);
    },
    list(kind, options = {}) {
      const key = keyOf(kind, options);
      const old = () => stale(key, (found) => found);
      return asked(`list ${text(kind)}`, async () => noted(key, await cluster.list(kind, options)), old);
    },
    watch(kind, options) {
      const old = () => lists.get(keyOf(kind, options));
      return line.watched(`watch ${text(kind)}`, () => cluster.watch(kind, options), { signal: options.signal, stale: old });
    },
    patch: (kind, ref, patch, manager) => written(`patch ${text(kind, ref)}`, () => cluster.patch(kind, ref, patch, manager)),
    create: (kind, object) => asked(`create ${text(kind, object.metadata)}`, () => cluster.create(kind, object)),
    replace: (kind, object) => written(`replace ${text(kind, object.metadata)}`, () => cluster.replace(kind, object)),
    remove: (kind, ref, version) => written(`remove ${text(kind, ref)}`, () => cluster.remove(kind, ref, version)),
    dryRunApply: (kind, object, manager) =>
      asked(`dry run ${text(kind, object.metadata)}`, () => cluster.dryRunApply(kind, object, manager)),
    dryRunPatch: (kind, ref, patch, by) => asked(`dry run ${text(kind, ref)}`, () => cluster.dryRunPatch(kind, ref, patch, by)),
    dryRunCreate: (kind, object) => asked(`dry run ${text(kind, object.metadata)}`, () => cluster.dryRunCreate(kind, object)),
  };
  return { requests, cluster: faulty };
}
