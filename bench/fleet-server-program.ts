import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectionPath } from '../src/adapters/kube/items.ts';
import { K } from '../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../src/kernel/object.ts';
import { apiVersionOf } from '../src/kernel/object.ts';
import { virtualClock } from '../src/sandbox/clock.ts';
import { netsvcScenario, type Scenario } from '../src/sandbox/scenario.ts';
import { isSelected } from '../src/sandbox/watch.ts';
import { ownReleases } from '../test/support/releases.ts';
import { benchFleet, fleetObjects } from './hep-fleet.ts';

/**
 * A server that answers what a plan of `hep` reads, from memory, page by page as a real one: what is measured beside it is the program
 * alone. Sizes and release as arguments; says its address and serves until it is ended.
 */
const [nodeCount = '5000', policyCount = '1000', release = 'v3.32.2', group = 'netsvc.io'] = process.argv.slice(2);
const { cluster } = await netsvcScenario({ nodes: 1, releasesFolder: ownReleases, clock: virtualClock(), installed: release });
const kinds = cluster.kinds();
for (const object of fleetObjects(benchFleet(Number(nodeCount), Number(policyCount)), group)) insert(cluster, object);
const collections = new Map(kinds.map((kind) => [collectionPath(kind), kind]));

function insert({ store }: Scenario['cluster'], object: KubeObject): void {
  const kind = kinds.find((one) => apiVersionOf(one) === object.apiVersion && one.kind === object.kind);
  if (!kind) throw new Error(`the release does not define ${object.kind}`);
  store.insert(kind, object);
}

/** As JSON, once: stored objects do not change here. */
const texts = new WeakMap<Kind, { readonly object: KubeObject; readonly whole: string; readonly metadata: string }[]>();

function textsOf(kind: Kind) {
  const known = texts.get(kind);
  if (known) return known;
  const made = cluster.store.list(kind).map((object) => ({
    object,
    whole: JSON.stringify(withWriter(object)),
    metadata: JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: withWriter(object).metadata }),
  }));
  texts.set(kind, made);
  return made;
}

/** Real servers note of each field who wrote it: a third of a small object. */
function withWriter(object: KubeObject): KubeObject {
  if (object.metadata.managedFields) return object;
  const fields = Object.fromEntries(Object.keys(object.metadata.labels ?? {}).map((key) => [`f:${key}`, {}]));
  const spec = Object.fromEntries(Object.keys((object.spec ?? {}) as object).map((key) => [`f:${key}`, {}]));
  const fieldsV1 = { 'f:metadata': { 'f:labels': { '.': {}, ...fields } }, 'f:spec': { '.': {}, ...spec } };
  const entry = { manager: 'kubectl-create', operation: 'Update', apiVersion: object.apiVersion, fieldsType: 'FieldsV1', fieldsV1 };
  return { ...object, metadata: { ...object.metadata, managedFields: [entry] } };
}

function send(response: ServerResponse, value: unknown, status = 200): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function list(response: ServerResponse, kind: Kind, url: URL, metadataOnly: boolean, namespace?: string): void {
  const option = (name: string) => url.searchParams.get(name) ?? '';
  const selection = { labelSelector: option('labelSelector'), fieldSelector: option('fieldSelector'), ...(namespace ? { namespace } : {}) };
  const all = textsOf(kind).filter(({ object }) => isSelected(object, selection));
  const from = Number(option('continue') || 0);
  const to = from + Number(option('limit') || all.length);
  const more = to < all.length ? `,"continue":"${to}","remainingItemCount":${all.length - to}` : '';
  const head = metadataOnly
    ? '"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"'
    : `"kind":"${kind.kind}List","apiVersion":"${apiVersionOf(kind)}"`;
  const items = all.slice(from, to).map((one) => (metadataOnly ? one.metadata : one.whole));
  send(response, `{${head},"metadata":{"resourceVersion":"1"${more}},"items":[${items.join(',')}]}`);
}

/** The objects of a path: a collection, or one of its objects. */
function read(response: ServerResponse, url: URL, metadataOnly: boolean): void {
  const [, root = '', namespace, rest = ''] =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/(.+)$/.exec(url.pathname) ?? [];
  const [plural = '', name] = rest.split('/');
  const kind = collections.get(`${root}/${plural}`);
  const object = kind && cluster.store.get(kind, decodeURIComponent(name ?? ''), namespace);
  if (kind && name === undefined) list(response, kind, url, metadataOnly, namespace);
  else if (object) send(response, object);
  else send(response, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound', message: 'not found' }, 404);
}

/** Aggregated discovery: of the core group, or of all others. */
function discovery(core: boolean): unknown {
  const groups = Map.groupBy(
    kinds.filter((kind) => (kind.group === '') === core),
    (kind) => kind.group,
  );
  const items = [...groups].map(([name, served]) => ({
    metadata: { name },
    versions: [...Map.groupBy(served, ({ version }) => version)].map(([version, some]) => ({
      version,
      resources: some.map(({ plural, kind, namespaced }) => ({
        resource: plural,
        responseKind: { kind },
        scope: namespaced ? 'Namespaced' : 'Cluster',
        verbs: ['get', 'list'],
      })),
    })),
  }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items };
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://loopback');
  if (url.pathname === '/version') send(response, { gitVersion: 'v1.36.1', major: '1', minor: '36' });
  else if (url.pathname === '/api' || url.pathname === '/apis') send(response, discovery(url.pathname === '/api'));
  else read(response, url, (request.headers.accept ?? '').includes('PartialObjectMetadata'));
});
for (const kind of [K.Node, ...kinds.filter((one) => one.group === `crd.${group}`)]) textsOf(kind);
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
