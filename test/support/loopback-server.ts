import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type ClusterOptions, openCluster } from '../../src/adapters/kube/cluster.ts';
import type { Connection } from '../../src/adapters/kubeconfig/connection.ts';
import type { Identity } from '../control-plane/certificates.ts';
import { listening } from '../control-plane/listening.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Loopback {
  readonly url: string;
  readonly seen: Seen[];
  /** Connections that were made so far. */
  connections(): number;
  close(): Promise<void>;
}

export interface ServerIdentity extends Identity {
  /** Clients are asked for a certificate of it. */
  readonly clientAuthority?: string;
  /** Clients may come without one. */
  readonly letsAnybodyIn?: boolean;
}

type Answer = (request: Seen, response: ServerResponse) => void | Promise<void>;

/** A small real server on loopback that answers as told and remembers what it was asked. */
export async function serve(answer: Answer, tls?: ServerIdentity): Promise<Loopback> {
  const seen: Seen[] = [];
  let connections = 0;
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers, rawHeaders } = request;
    const one = { method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
    seen.push(one);
    await answer(one, response);
  };
  const server: Server = tls
    ? createTlsServer(
        {
          cert: tls.certificate,
          key: tls.key,
          ca: tls.clientAuthority,
          requestCert: Boolean(tls.clientAuthority),
          rejectUnauthorized: tls.letsAnybodyIn !== true,
        },
        listener,
      )
    : createServer(listener);
  server.on(tls ? 'secureConnection' : 'connection', () => {
    connections += 1;
  });
  const { port, close } = await listening(server);
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    seen,
    connections: () => connections,
    close,
  };
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers: Record<string, string | string[]> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

export function sendStatus(response: ServerResponse, code: number, reason: string, message: string, more: object = {}): void {
  sendJson(response, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, ...more }, code);
}

export function connectionTo(url: string, more: Partial<Connection> = {}): Connection {
  const cluster = { server: url, ...more.cluster };
  return {
    source: 'test.kubeconfig',
    contextName: 'test',
    clusterName: 'test',
    userName: 'tester',
    namespace: 'default',
    server: url,
    user: {},
    env: { PATH: process.env.PATH },
    ...more,
    cluster,
  };
}

/** A cluster whose pauses take no time; `pauses` holds their lengths. */
export function clusterTo(
  url: string,
  more: Partial<Connection> = {},
  options: Pick<ClusterOptions, 'pageSize' | 'warn' | 'trace' | 'interruption' | 'answerMs'> = {},
) {
  const pauses: number[] = [];
  const cluster = openCluster(connectionTo(url, more), {
    version: '1.2.3',
    ...options,
    sleep: async (ms, signal) => {
      pauses.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  });
  return { cluster, pauses };
}
