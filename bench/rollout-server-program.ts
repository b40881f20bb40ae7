import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { K } from '../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../src/kernel/object.ts';
import { virtualClock } from '../src/sandbox/clock.ts';
import { netsvcScenario } from '../src/sandbox/scenario.ts';
import { ownReleases } from '../test/support/releases.ts';
import { serveSandbox } from '../test/support/served-sandbox.ts';

/**
 * An API server from memory on which a DaemonSet rolls out: only the program that waits is measured beside it. Arguments: nodes, seconds in
 * which nothing happens once it watches, then pods a second. Says its address, when it is watched, when it rolls, and the time of the last pod.
 */
const [nodeCount = 5000, quietSeconds = 0, podsPerSecond = 100] = process.argv.slice(2).map(Number);
const RELEASE = 'v3.32.2';
const AGENT = 'netsvc-node';
const SPACE = 'kube-system';
const JSON_TYPE = { 'content-type': 'application/json' };

const { cluster } = await netsvcScenario({ nodes: 1, releasesFolder: ownReleases, clock: virtualClock(), installed: RELEASE });
const inner = await serveSandbox(cluster);

/** What is listed and watched of one kind, as text. */
class Collection {
  readonly texts = new Map<string, string>();
  readonly kind: Kind;
  readonly #watchers = new Set<ServerResponse>();
  readonly #lists: { readonly at: number; readonly all: readonly string[] }[] = [];
  /** Lines of a watch, by the version at which they came: a watch continues where its list ended. */
  readonly #told: { readonly at: number; readonly line: string }[] = [];

  constructor(kind: Kind) {
    this.kind = kind;
  }

  put(object: KubeObject): void {
    const text = JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } });
    this.#tell(this.texts.has(object.metadata.name) ? 'MODIFIED' : 'ADDED', text);
    this.texts.set(object.metadata.name, text);
  }

  delete(name: string): void {
    version += 1;
    this.#tell('DELETED', this.texts.get(name) ?? '');
    this.texts.delete(name);
  }

  watch(response: ServerResponse, query: URLSearchParams): void {
    const from = Number(query.get('resourceVersion'));
    response.writeHead(200, JSON_TYPE);
    response.flushHeaders();
    for (const { at, line } of this.#told) if (at > from) response.write(line);
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Every page of a list is of the moment of its first one. */
  list(response: ServerResponse, query: URLSearchParams): void {
    const [number = this.#lists.length, from = 0] = (query.get('continue') ?? '').split('.').filter(Boolean).map(Number);
    this.#lists[number] ??= { at: version, all: [...this.texts.values()] };
    const { at, all } = this.#lists[number];
    const to = from + Number(query.get('limit') || all.length);
    const more = to < all.length ? `,"continue":"${number}.${to}"` : '';
    const head = `"kind":"${this.kind.kind}List","apiVersion":"v1","metadata":{"resourceVersion":"${at}"${more}}`;
    response.writeHead(200, JSON_TYPE);
    response.end(`{${head},"items":[${all.slice(from, to).join(',')}]}`);
  }

  #tell(type: string, text: string): void {
    const line = `{"type":"${type}","object":${text}}\n`;
    if (this.#told.push({ at: version, line }) > HISTORY) this.#told.shift();
    for (const watcher of this.#watchers) watcher.write(line);
  }
}

/** Lines that are kept. */
const HISTORY = 2000;

let version = 1000;
const collections = { nodes: new Collection(K.Node), pods: new Collection(K.Pod), daemonsets: new Collection(K.DaemonSet) };
const requests = new Map<string, number>();

/** A real object is so large: images and labels of a node, environment and writers of a pod. */
function padded(object: KubeObject, bytes: number): KubeObject {
  const fieldsV1 = Object.fromEntries(
    Array.from({ length: Math.max(0, Math.ceil((bytes - JSON.stringify(object).length) / 50)) }, (_, index) => [
      `f:spec-of-some-field-${index}`,
      { 'f:name': {}, '.': {} },
    ]),
  );
  const managedFields = [{ manager: 'kubelet', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }] as const;
  return { ...object, metadata: { ...object.metadata, managedFields: managedFields as never } };
}

const [node] = cluster.store.list(K.Node) as [KubeObject];
const daemonSet = cluster.store.get(K.DaemonSet, AGENT, SPACE) as KubeObject;
const [agent] = cluster.store.list(K.Pod).filter(({ metadata }) => metadata.name.startsWith(AGENT)) as [KubeObject];
const names = Array.from({ length: nodeCount }, (_, index) => `node-${String(index).padStart(5, '0')}`);

function podOn(name: string, index: number, state: 'old' | 'pending' | 'starting' | 'ready'): KubeObject {
  const text = JSON.stringify(agent).replaceAll(node.metadata.name, name);
  const pod = JSON.parse(state === 'old' ? text.replaceAll(RELEASE, 'v3.26.4') : text) as KubeObject & { status: object };
  const isReady = state === 'old' || state === 'ready';
  const metadata = {
    ...pod.metadata,
    name: `${AGENT}-${state === 'old' ? 'a' : 'b'}${index}`,
    uid: `${state === 'old' ? 'a' : 'b'}-${index}`,
    creationTimestamp: new Date().toISOString(),
  };
  if (isReady) return padded({ ...pod, metadata }, 14_000);
  const [container] = (pod.status as { containerStatuses: readonly object[] }).containerStatuses;
  const what = state === 'pending' ? { waiting: { reason: 'ContainerCreating' } } : { running: { startedAt: metadata.creationTimestamp } };
  const status = {
    phase: state === 'pending' ? 'Pending' : 'Running',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [{ ...container, ready: false, state: what }],
  };
  return padded({ ...pod, metadata, status }, 14_000);
}

function count(updated: number, ready: number): void {
  const status = {
    ...(daemonSet.status as object),
    observedGeneration: daemonSet.metadata.generation ?? 1,
    desiredNumberScheduled: nodeCount,
    currentNumberScheduled: nodeCount,
    updatedNumberScheduled: updated,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: nodeCount - ready,
  };
  collections.daemonsets.put({ ...daemonSet, status });
}

names.forEach((name, index) => {
  const text = JSON.stringify(node).replaceAll(node.metadata.name, name);
  collections.nodes.put(padded(JSON.parse(text) as KubeObject, 4_000));
  collections.pods.put(podOn(name, index, 'old'));
});
count(0, nodeCount);

/** Nodes report themselves every five minutes, changed or not. */
const HEARTBEAT_MS = 300_000;
function beat(): void {
  let at = 0;
  setInterval(() => {
    const name = names[at++ % names.length] as string;
    collections.nodes.put(JSON.parse(collections.nodes.texts.get(name) as string) as KubeObject);
  }, HEARTBEAT_MS / nodeCount);
}

async function roll(): Promise<void> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  while (collections.pods.watchers === 0 || collections.nodes.watchers === 0) await sleep(50);
  say('watched');
  beat();
  await sleep(quietSeconds * 1000);
  say('rolls');
  const started = Date.now();
  let [begun, done] = [0, 0];
  while (done < nodeCount) {
    await sleep(20);
    const due = Math.min(nodeCount, Math.floor(((Date.now() - started) / 1000) * podsPerSecond));
    for (; begun < due; begun += 1) {
      const index = begun;
      collections.pods.delete(`${AGENT}-a${index}`);
      collections.pods.put(podOn(names[index] as string, index, 'pending'));
      setTimeout(() => {
        collections.pods.put(podOn(names[index] as string, index, 'starting'));
        setTimeout(() => {
          collections.pods.put(podOn(names[index] as string, index, 'ready'));
          done += 1;
        }, 300);
      }, 300);
    }
    if (done < nodeCount) count(begun, nodeCount - begun + done);
  }
  const lastReady = Date.now();
  count(nodeCount, nodeCount);
  say(`ready ${lastReady}`);
}

/** What is neither nodes nor agents is the small cluster's. */
async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of asked) chunks.push(chunk as Buffer);
  const { method = 'GET', headers } = asked;
  const type = headers['content-type'] ?? 'application/json';
  const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
  const found = await fetch(`${inner.url}${asked.url}`, {
    method,
    headers: { accept: headers.accept ?? '', 'content-type': type },
    ...body,
  });
  answer.writeHead(found.status, JSON_TYPE);
  answer.end(Buffer.from(await found.arrayBuffer()));
}

/** Of the kinds of which there are thousands, and of the DaemonSet that rolls. */
function collectionAt({ pathname, searchParams }: URL): Collection | undefined {
  if (pathname === '/api/v1/nodes') return collections.nodes;
  if (pathname === `/apis/apps/v1/namespaces/${SPACE}/daemonsets`) return collections.daemonsets;
  const isOfAgents = (searchParams.get('labelSelector') ?? '').includes(AGENT);
  return pathname === `/api/v1/namespaces/${SPACE}/pods` && isOfAgents ? collections.pods : undefined;
}

const server = createServer((asked, answer) => {
  const url = new URL(asked.url ?? '', 'http://loopback');
  const collection = collectionAt(url);
  const isWatch = url.searchParams.has('watch');
  const name = `${isWatch ? 'watch' : asked.method} ${url.pathname} ${url.searchParams.get('labelSelector') ?? ''}`;
  requests.set(name, (requests.get(name) ?? 0) + 1);
  if (url.pathname === '/bench/requests') answer.end(JSON.stringify([...requests]));
  else if (isWatch) (collection ?? new Collection(K.Pod)).watch(answer, url.searchParams);
  else if (collection) collection.list(answer, url.searchParams);
  else if (url.pathname.endsWith(`/daemonsets/${AGENT}`)) answer.writeHead(200, JSON_TYPE).end(collections.daemonsets.texts.get(AGENT));
  else void forward(asked, answer);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
void roll();
