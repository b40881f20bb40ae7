import type { ServerResponse } from 'node:http';
import type { JsonPatchOp, Kind, KubeObject } from '../../src/kernel/object.ts';
import { type AccessRequest, ApiFailure } from '../../src/kernel/ports.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { type Loopback, type Seen, sendJson, sendStatus, serve } from './loopback-server.ts';

/** The in-memory cluster behind HTTP, for processes that only look: reads, reviews and dry runs. Any other write is a 405. */
export function serveSandbox(cluster: SandboxCluster): Promise<Loopback> {
  return serve(async (request, response) => {
    try {
      await answer(cluster, request, response);
    } catch (thrown) {
      // Unanswered, a request would be waited for; a defect of the cluster in memory is for the test to see.
      const { status, reason, message } = thrown instanceof ApiFailure ? thrown : new ApiFailure(500, 'InternalError', String(thrown));
      sendStatus(response, status, reason, message);
    }
  });
}

export async function answer(cluster: SandboxCluster, request: Seen, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/api' || pathname === '/apis') return sendDiscovery(response, cluster.kinds(), pathname === '/api');
  if (pathname.endsWith('/selfsubjectaccessreviews')) return review(cluster, request, response);
  const place = placeOf(cluster.kinds(), pathname);
  if (!place) {
    const text = await cluster.raw(request.url);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    return;
  }
  const { kind, namespace, name } = place;
  if (request.method !== 'GET') return sendJson(response, await dryRun(cluster, request, place));
  if (name === undefined) {
    const selectors = ['labelSelector', 'fieldSelector'].map((key) => [key, searchParams.get(key)]).filter(([, value]) => value);
    const items = await cluster.list(kind, { ...(namespace ? { namespace } : {}), ...Object.fromEntries(selectors) });
    return sendJson(response, { kind: `${kind.kind}List`, apiVersion: 'v1', metadata: { resourceVersion: '1' }, items });
  }
  const found = await cluster.get(kind, name, namespace);
  if (!found) throw new ApiFailure(404, 'NotFound', `${kind.plural} "${name}" not found`);
  return sendJson(response, found);
}

type Place = NonNullable<ReturnType<typeof placeOf>>;

export function placeOf(kinds: readonly Kind[], path: string) {
  const [, core, grouped, group = '', namedVersion, namespace, plural, name] =
    /^\/(?:api\/([^/]+)|(apis)\/([^/]+)\/([^/]+))(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const version = grouped ? namedVersion : core;
  const kind = kinds.find((one) => one.group === group && one.version === version && one.plural === plural);
  return kind && { kind, namespace, name: name === undefined ? undefined : decodeURIComponent(name) };
}

async function review(cluster: SandboxCluster, { body }: Seen, response: ServerResponse): Promise<void> {
  const { spec } = JSON.parse(body) as { readonly spec: { readonly resourceAttributes: AccessRequest } };
  const [allowed = false] = await cluster.reviewAccess([spec.resourceAttributes]);
  sendJson(response, { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec, status: { allowed } }, 201);
}

async function dryRun(cluster: SandboxCluster, { method, url, headers, body }: Seen, place: Place): Promise<KubeObject> {
  const { searchParams } = new URL(url, 'http://localhost');
  if (searchParams.get('dryRun') !== 'All') throw new ApiFailure(405, 'MethodNotAllowed', `${method} ${url} is no dry run`);
  const manager = searchParams.get('fieldManager') ?? '';
  const { kind, namespace, name = '' } = place;
  if (method === 'POST') return cluster.dryRunCreate(kind, JSON.parse(body) as KubeObject);
  if (headers['content-type']?.includes('json-patch')) {
    const ref = { apiVersion: '', kind: kind.kind, name, ...(namespace ? { namespace } : {}) };
    return cluster.dryRunPatch(kind, ref, JSON.parse(body) as readonly JsonPatchOp[], manager);
  }
  return cluster.dryRunApply(kind, JSON.parse(body) as KubeObject, manager);
}

/** What people type for some kinds. */
const SHORT: Readonly<Record<string, readonly string[]>> = { customresourcedefinitions: ['crd', 'crds'], tigerastatuses: ['tigerastatus'] };
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** All kinds of the core group, or of the others, as today's clients ask for them: in one answer. */
export function sendDiscovery(response: ServerResponse, kinds: readonly Kind[], isCore: boolean): void {
  const groups = Map.groupBy(
    kinds.filter(({ group }) => (group === '') === isCore),
    ({ group }) => group,
  );
  const resource = ({ plural, kind, namespaced }: Kind) => ({
    ...{ resource: plural, singularResource: kind.toLowerCase(), shortNames: SHORT[plural] ?? [] },
    ...{ responseKind: { kind }, scope: namespaced ? 'Namespaced' : 'Cluster' },
    verbs: ['get', 'list', 'watch', 'patch', 'create', 'update', 'delete'],
  });
  const items = [...groups].map(([name, own]) => {
    const versions = Map.groupBy(own, ({ version }) => version);
    return { metadata: { name }, versions: [...versions].map(([version, some]) => ({ version, resources: some.map(resource) })) };
  });
  const list = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items };
  sendJson(response, list, 200, { 'content-type': DISCOVERY });
}
