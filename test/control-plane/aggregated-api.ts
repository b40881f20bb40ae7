import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Ask, discovery, parseTarget, storedPath, type Target, textOf } from './aggregated-target.ts';
import type { ApiAccess, ApiObject } from './api.ts';
import { createAuthority } from './certificates.ts';
import { OLD_SERVER, type ServerRule, servedObject } from './service-objects.ts';

/** A played API server of the service: shows the stored objects of `crd.GROUP` as `GROUP/v3`, for reading and deleting. */
export interface AggregatedApi {
  readonly port: number;
  /** PEM, of whoever signed its certificate. */
  readonly authority: string;
  readonly group: string;
  readonly rule: ServerRule;
  /** Serves by another rule from now on; connections are cut, as when another release's process takes over. */
  serve(rule: ServerRule): void;
  stop(): Promise<void>;
}

export interface AggregatedOptions {
  /** The control plane that stores the objects; its front proxy is the only one who may ask. */
  readonly behind: ApiAccess;
  readonly group: string;
  /** Names by which it is dialled. */
  readonly hosts: readonly string[];
}

export async function serveAggregatedApi({ behind, group, hosts }: AggregatedOptions): Promise<AggregatedApi> {
  const authority = createAuthority('aggregated-authority');
  const { certificate, key } = authority.issue({ commonName: 'aggregated-api', hosts });
  const agent = new SecureAgent({ keepAlive: true, ca: behind.authority, cert: behind.certificate, key: behind.key });
  let rule = OLD_SERVER;
  const ask = asker(behind.server, agent);
  const server = createServer({ cert: certificate, key, ca: behind.authority, requestCert: true }, (request, response) => {
    answer({ request, response, group, rule, ask }).catch((thrown: unknown) => response.destroy(thrown as Error));
  });
  // What is still greeting is no connection to the server yet, and would be waited for.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    port,
    group,
    authority: authority.certificate,
    get rule() {
      return rule;
    },
    serve(next) {
      rule = next;
      server.closeAllConnections();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function asker(server: string, agent: SecureAgent): Ask {
  return (method, path, signal) =>
    new Promise((resolve, reject) => {
      const asked = secureRequest(server + path, { agent, method, ...(signal ? { signal } : {}) }, resolve);
      asked.on('error', reject);
      asked.end();
    });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly group: string;
  readonly rule: ServerRule;
  readonly ask: Ask;
}

async function answer(exchange: Exchange): Promise<void> {
  const { request, response, group } = exchange;
  const [path = '', query = ''] = (request.url ?? '').split('?');
  if (path === `/apis/${group}/v3`) return send(response, 200, await discovery(exchange));
  const target = parseTarget(path, group);
  if (!target || !['GET', 'DELETE'].includes(request.method ?? '')) return send(response, target ? 405 : 404, refusal(target ? 405 : 404));
  const isWatch = new URLSearchParams(query).has('watch');
  return isWatch ? watch(exchange, target, query) : whole(exchange, target, query);
}

async function whole(exchange: Exchange, target: Target, query: string): Promise<void> {
  const { request, response, ask } = exchange;
  const backing = await ask(request.method ?? 'GET', `${storedPath(exchange, target)}?${query}`);
  const body = JSON.parse(await textOf(backing)) as ApiObject & { readonly items?: readonly ApiObject[] };
  const status = backing.statusCode ?? 500;
  if (status > 299 || request.method !== 'GET') return send(response, status, body);
  const show = shown(exchange, target);
  if (!body.items) return send(response, 200, show(body));
  const { group } = exchange;
  const kind = wantsMetadata(request) ? 'PartialObjectMetadataList' : body.kind;
  const apiVersion = wantsMetadata(request) ? 'meta.k8s.io/v1' : `${group}/v3`;
  send(response, 200, { ...body, apiVersion, kind, items: body.items.map(show) });
}

async function watch(exchange: Exchange, target: Target, query: string): Promise<void> {
  const { response, ask } = exchange;
  const end = new AbortController();
  response.on('close', () => end.abort());
  const backing = await ask('GET', `${storedPath(exchange, target)}?${query}`, end.signal);
  const status = backing.statusCode ?? 500;
  if (status > 299) return send(response, status, JSON.parse(await textOf(backing)));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const show = shown(exchange, target);
  const events = createInterface({ input: backing });
  try {
    for await (const line of events) {
      const event = JSON.parse(line) as { readonly type: string; readonly object: ApiObject };
      response.write(`${JSON.stringify(event.type === 'ERROR' ? event : { ...event, object: show(event.object) })}\n`);
    }
  } catch (thrown) {
    if (!end.signal.aborted) throw thrown;
  }
  response.end();
}

const wantsMetadata = ({ headers }: IncomingMessage): boolean => headers.accept?.includes('as=PartialObjectMetadata') ?? false;

/** The object as this server shows it; a bookmark has no name and keeps what it says. */
function shown({ request, group, rule }: Exchange, { plural }: Target): (object: ApiObject) => object {
  return (object) => {
    const isBookmark = object.metadata.uid === undefined;
    const served = isBookmark ? { ...object, apiVersion: `${group}/v3` } : servedObject(object, group, plural, rule);
    if (!wantsMetadata(request)) return served;
    return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: served.metadata };
  };
}

const refusal = (code: number): object => ({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: `refused with ${code}` });

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
