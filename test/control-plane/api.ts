import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { ObjectMeta } from '../../src/kernel/object.ts';
import { patient } from '../support/patience.ts';

/** Where an API server is and who asks. PEM texts. */
export interface ApiAccess {
  readonly server: string;
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
  /** Shown instead of the certificate where there is one. */
  readonly token?: string;
}

/** The API server refused. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Passes these refusals over, throws anything else. */
export function unless(...statuses: readonly number[]): (thrown: unknown) => undefined {
  return (thrown) => {
    if (!(thrown instanceof ApiError) || !statuses.includes(thrown.status)) throw thrown;
  };
}

/** For what may not be there, or be gone already. */
export const unlessGone = unless(404);

/** Undefined if there is none. */
export const find = <T = ApiObject>(api: Api, path: string): Promise<T | undefined> => api.get<T>(path).catch(unlessGone);

/** An object as an API server sends it. */
export interface ApiObject {
  readonly metadata: ObjectMeta & { readonly uid: string; readonly resourceVersion: string };
  readonly [field: string]: unknown;
}

export interface ApiList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ApiObject[];
}

type Seen = (object: ApiObject) => void;

/** A small client of the control plane's own, so that the program under test is not needed to set up its tests. */
export type Api = ReturnType<typeof connect>;

const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export function connect({ server, authority, certificate, key, token }: ApiAccess) {
  const agent = new Agent({ keepAlive: true, ca: authority, maxSockets: 30, ...(token === undefined ? { cert: certificate, key } : {}) });
  const call: Call = (method, path, more) => ask(agent, method, server + path, { ...more, token });
  return {
    /** Objects of a list without spec, status and data: a tenth of the work for what is large. */
    metadata: async (path: string): Promise<readonly ApiObject[]> => {
      const { items }: { readonly items: readonly ApiObject[] | null } = JSON.parse(
        await text(await call('GET', path, { accept: METADATA })),
      );
      // An empty list of them is none, unlike a list of objects.
      return items ?? [];
    },
    /** JSON of a path; throws ApiError on any refusal. */
    get: async <T>(path: string): Promise<T> => JSON.parse(await text(await call('GET', path))),
    send: async <T = ApiObject>(method: Method, path: string, body?: unknown, contentType?: string): Promise<T> =>
      JSON.parse(await text(await call(method, path, { body, contentType }))),
    /** Every object below a list path, now and whenever it changes, until the signal; survives dropped connections. What is deleted is `gone`. */
    follow: (path: string, seen: Seen, signal: AbortSignal, gone: Seen = () => undefined) => follow(call, path, { seen, gone, signal }),
    close: () => agent.destroy(),
  };
}

/** Whether a component that signs its own certificate says that it is well. */
export async function isHealthy(port: number): Promise<boolean> {
  const agent = new Agent({ rejectUnauthorized: false });
  // Whoever else has the port need not answer at all.
  const signal = AbortSignal.timeout(patient(2_000));
  return (await text(await ask(agent, 'GET', `https://127.0.0.1:${port}/healthz`, { signal }))) === 'ok';
}

type Call = (method: string, path: string, more?: More) => Promise<IncomingMessage>;

interface More {
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  readonly token?: string | undefined;
}

async function ask(agent: Agent, method: string, url: string, more?: More, tries = 30): Promise<IncomingMessage> {
  const answer = await exchange(agent, method, url, more);
  const status = answer.statusCode ?? 0;
  // The storage of a kind that was defined a moment ago is not ready yet: the server asks for another try.
  if (status === 429 && method === 'GET' && tries > 0) {
    answer.resume();
    await wait(1_000 * Number(answer.headers['retry-after'] ?? 1));
    return ask(agent, method, url, more, tries - 1);
  }
  if (status < 200 || status > 299) throw new ApiError(status, `${method} ${url}: ${status} ${await text(answer)}`);
  return answer;
}

/** One request; any answer is good. */
export function exchange(agent: Agent, method: string, url: string, more: More = {}): Promise<IncomingMessage> {
  const { body, signal, token, accept, contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' } = more;
  const headers = {
    ...(body === undefined ? {} : { 'content-type': contentType }),
    ...(accept === undefined ? {} : { accept }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, method, headers, ...(signal ? { signal } : {}) }, resolve);
    // The server had closed a connection that was kept: the request never reached it.
    asked.on('error', (thrown: NodeJS.ErrnoException) =>
      asked.reusedSocket && thrown.code === 'ECONNRESET' ? resolve(exchange(agent, method, url, more)) : reject(thrown),
    );
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const RECONNECT_MS = 200;

interface Followed {
  readonly seen: Seen;
  readonly gone: Seen;
  readonly signal: AbortSignal;
}

async function follow(call: Call, path: string, to: Followed): Promise<void> {
  const { signal } = to;
  while (!signal.aborted) {
    try {
      const list: ApiList = JSON.parse(await text(await call('GET', path, { signal })));
      for (const item of list.items) to.seen(item);
      await watch(call, path, list.metadata.resourceVersion, to);
    } catch (thrown) {
      if (signal.aborted) return;
      if (thrown instanceof ApiError && thrown.status < 500 && thrown.status !== 410 && thrown.status !== 429) throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

async function watch(call: Call, path: string, from: string, { seen, gone, signal }: Followed): Promise<void> {
  const query = `${path.includes('?') ? '&' : '?'}watch=true&resourceVersion=${from}`;
  const stream = await call('GET', path + query, { signal });
  for await (const line of createInterface({ input: stream })) {
    const event: { type: string; object: ApiObject } = JSON.parse(line);
    if (event.type === 'ERROR') return;
    if (event.type === 'ADDED' || event.type === 'MODIFIED') seen(event.object);
    if (event.type === 'DELETED') gone(event.object);
  }
}
