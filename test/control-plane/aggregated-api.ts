import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { JsonPatchOp } from '../../src/kernel/object.ts';
import { applyJsonPatch, PatchFailure } from '../../src/manifest/json-patch.ts';
import { type Ask, discovery, parseTarget, type Target } from './aggregated-target.ts';
import { type ApiAccess, type ApiObject, exchange } from './api.ts';
import { createAuthority } from './certificates.ts';
import { listening } from './listening.ts';
import { OLD_SERVER, type ServerRule, servedObject, storedObject } from './service-objects.ts';

export type AggregatedApi = Awaited<ReturnType<typeof serveAggregatedApi>>;

/**
 * A played API server of the service: shows the objects that the control plane behind stores of `crd.GROUP` as `GROUP/v3`, for reading, making,
 * patching (JSON patch) and deleting. Only the control plane's front proxy may ask. `hosts`: names by which it is dialled.
 */
export async function serveAggregatedApi(behind: ApiAccess, group: string, hosts: readonly string[]) {
  const authority = createAuthority('aggregated-authority');
  const { certificate, key } = authority.issue({ commonName: 'aggregated-api', hosts });
  const agent = new Agent({ keepAlive: true, ca: behind.authority, cert: behind.certificate, key: behind.key });
  let rule = OLD_SERVER;
  const ask: Ask = (method, path, signal, body) => exchange(agent, method, behind.server + path, { signal, body });
  const server = createServer({ cert: certificate, key, ca: behind.authority, requestCert: true }, (request, response) => {
    answer({ request, response, group, rule, ask }).catch((thrown: unknown) => response.destroy(thrown as Error));
  });
  const { port, close } = await listening(server);
  return {
    port,
    group,
    /** PEM, of whoever signed its certificate. */
    authority: authority.certificate,
    get rule() {
      return rule;
    },
    /** Serves by another rule from now on; connections are cut, as when another release's process takes over. */
    serve(next: ServerRule) {
      rule = next;
      server.closeAllConnections();
    },
    async stop() {
      agent.destroy();
      await close();
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly group: string;
  readonly rule: ServerRule;
  readonly ask: Ask;
}

async function answer(asked: Exchange): Promise<void> {
  const { request, response, group } = asked;
  const [path = '', query = ''] = (request.url ?? '').split('?');
  if (path === `/apis/${group}/v3`) return send(response, 200, await discovery(asked));
  const target = parseTarget(path, group, asked.rule);
  if (!target) return send(response, 404, refusal(404));
  if (request.method === 'POST' || request.method === 'PATCH') return write(asked, target);
  if (!['GET', 'DELETE'].includes(request.method ?? '')) return send(response, 405, refusal(405));
  const isWatch = new URLSearchParams(query).has('watch');
  return isWatch ? watch(asked, target, query) : whole(asked, target, query);
}

async function whole(asked: Exchange, target: Target, query: string): Promise<void> {
  const { request, response, ask } = asked;
  const backing = await ask(request.method ?? 'GET', `${target.stored}?${query}`);
  const body = JSON.parse(await text(backing)) as ApiObject & { readonly items?: readonly ApiObject[] };
  const status = backing.statusCode ?? 500;
  if (status > 299 || request.method !== 'GET') return send(response, status, body);
  const show = shown(asked, target);
  if (!body.items) return send(response, 200, show(body));
  const { group } = asked;
  const kind = wantsMetadata(request) ? 'PartialObjectMetadataList' : body.kind;
  const apiVersion = wantsMetadata(request) ? 'meta.k8s.io/v1' : `${group}/v3`;
  send(response, 200, { ...body, apiVersion, kind, items: body.items.map(show) });
}

/** What is given is stored with its owners noted beside it, as the service does; a test of a patch that fails is refused as the API server does. */
async function write(asked: Exchange, target: Target): Promise<void> {
  const { request, response, group, rule, ask } = asked;
  const { plural, stored } = target;
  const body = JSON.parse(await text(request)) as object;
  if (request.method === 'POST') {
    return relay(asked, target, await ask('POST', stored, undefined, storedObject(body as ApiObject, group, plural, rule)));
  }
  if (request.headers['content-type'] !== 'application/json-patch+json') return send(response, 415, refusal(415));
  const backing = await ask('GET', stored);
  const before = JSON.parse(await text(backing)) as ApiObject;
  if (backing.statusCode !== 200) return send(response, backing.statusCode ?? 500, before);
  try {
    const after = applyJsonPatch(servedObject(before, group, plural, rule), body as readonly JsonPatchOp[]);
    return relay(asked, target, await ask('PUT', stored, undefined, storedObject(after, group, plural, rule, before)));
  } catch (thrown) {
    if (!(thrown instanceof PatchFailure)) throw thrown;
    return send(response, 422, refusal(422));
  }
}

async function relay(asked: Exchange, target: Target, backing: IncomingMessage): Promise<void> {
  const status = backing.statusCode ?? 500;
  const body = JSON.parse(await text(backing)) as ApiObject;
  send(asked.response, status, status > 299 ? body : shown(asked, target)(body));
}

async function watch(asked: Exchange, target: Target, query: string): Promise<void> {
  const { response, ask } = asked;
  const end = new AbortController();
  response.on('close', () => end.abort());
  const backing = await ask('GET', `${target.stored}?${query}`, end.signal);
  const status = backing.statusCode ?? 500;
  if (status > 299) return send(response, status, JSON.parse(await text(backing)));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const show = shown(asked, target);
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
