import { setTimeout as wait } from 'node:timers/promises';
import type { Interruption } from '../../kernel/interruption.ts';
import { K } from '../../kernel/kinds.ts';
import { ApiFailure, type Cluster } from '../../kernel/ports.ts';
import { type Connection, connectionText } from '../kubeconfig/connection.ts';
import { together } from '../together.ts';
import type { Trace } from '../trace.ts';
import { explainFailure } from './failure.ts';
import { OtherCluster } from './other-cluster.ts';
import { readerOf } from './read.ts';
import { Transport } from './transport.ts';
import { writerOf } from './write.ts';

export interface ClusterOptions {
  /** Version of this program, for User-Agent. */
  readonly version: string;
  /** Warnings of the API server, each once. */
  readonly warn?: (text: string) => void;
  /** Standard input is a terminal: credential plugins may ask. */
  readonly terminal?: boolean;
  /** Who wants to see the requests. */
  readonly trace?: Trace | undefined;
  /** Ctrl-C. */
  readonly interruption?: Pick<Interruption, 'soft' | 'hard' | 'late'> | undefined;
  /** Objects per page of a list; 500 unless said. */
  readonly pageSize?: number;
  /** Longest time for one whole answer; five minutes unless said. Milliseconds. */
  readonly answerMs?: number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** A cluster over its API, and who it is. */
export interface OpenCluster extends Cluster {
  readonly serverUrl: string;
  /** UID of the namespace kube-system, asked each time. Throws a Fault that explains why the server cannot be used. */
  clusterUid(): Promise<string>;
  /** From now on every write first checks that this is the cluster (house rule 5). */
  pin(clusterUid: string): void;
  /**
   * From now on no write is sent, nor sent again after a pause that the server asked for, once this throws: another run may have the
   * lock by then. Undefined: no lock is needed any more.
   */
  writeWhile(mustHold: (() => void) | undefined): void;
  close(): Promise<void>;
}

/** Opens nothing yet: the first request does. Every refusal is an ApiFailure. */
export function openCluster(connection: Connection, options: ClusterOptions): OpenCluster {
  const sleep = options.sleep ?? ((ms: number, signal?: AbortSignal) => wait(ms, undefined, signal ? { signal } : {}));
  let mustHold: (() => void) | undefined;
  const transport = new Transport(connection, {
    version: options.version,
    sleep,
    mayWrite: () => mustHold?.(),
    ...(options.warn ? { warn: options.warn } : {}),
    ...(options.answerMs === undefined ? {} : { answerMs: options.answerMs }),
    terminal: options.terminal ?? false,
    trace: options.trace,
    interruption: options.interruption,
  });
  const reader = readerOf(transport, { limit: options.pageSize ?? 500, namespace: connection.namespace, sleep });
  let pinned: string | undefined;
  const guard = together(async () => {
    if (pinned === undefined) return;
    const found = (await reader.get(K.Namespace, 'kube-system'))?.metadata.uid;
    if (found !== pinned) throw new OtherCluster(pinned, found, connectionText(connection));
  });
  async function clusterUid(): Promise<string> {
    try {
      const uid = (await reader.get(K.Namespace, 'kube-system'))?.metadata.uid;
      if (uid) return uid;
      throw new ApiFailure(404, 'NotFound', `${connection.server} has no namespace kube-system: it is no Kubernetes API server`);
    } catch (thrown) {
      throw explainFailure(thrown, connection);
    }
  }
  return {
    ...reader,
    ...writerOf(transport, connection.namespace, guard),
    serverUrl: connection.server,
    clusterUid,
    pin: (uid) => {
      pinned = uid;
    },
    writeWhile: (held) => {
      mustHold = held;
    },
    close: () => transport.close(),
  };
}
