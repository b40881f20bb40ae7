import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { K } from '../src/kernel/kinds.ts';
import type { JsonPatchOp, Kind, KubeObject } from '../src/kernel/object.ts';
import { ApiFailure } from '../src/kernel/ports.ts';
import { calico } from '../src/profiles/calico.ts';
import { virtualClock } from '../src/sandbox/clock.ts';
import { sandboxTools } from '../src/sandbox/sandbox-tools.ts';
import type { Scenario } from '../src/sandbox/scenario.ts';
import { type Seen, sendJson, sendStatus, serve } from '../test/support/loopback-server.ts';
import { manifestFile, releases } from '../test/support/releases.ts';
import { installedSandbox } from '../test/support/sandbox-ports.ts';
import { answer, placeOf } from '../test/support/served-sandbox.ts';
import { openKubeconfig } from '../test/support/traced-process.ts';

/**
 * A fleet in a process of its own: the cluster in memory behind HTTP, with pages, watches and writes, and a kubectl that has it apply. Prints
 * the environment of a command as one line of JSON once it is there; ends with SIGTERM.
 */
const nodes = Number(process.argv[2]);
const FROM = 'v3.27.5';
const FILE = 'calico.yaml';
/** As many images a kubelet lists. */
const IMAGES = Array.from({ length: 50 }, (_, index) => {
  const name = `registry.example.com/team-${index}/app`;
  return { names: [`${name}@sha256:${'ab'.repeat(32)}`, `${name}:v1.${index}.0`], sizeBytes: 123_456_789 };
});
const MACHINE = { osImage: 'Linux', containerRuntimeVersion: 'containerd://2.1.0' };
const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
  ...{ type, status: 'False', reason: 'KubeletHasSufficient', message: 'kubelet has sufficient resources available' },
  lastTransitionTime: '2026-11-01T00:00:00Z',
}));
/** Until every agent is ready. */
const SETTLE_MS = 20_000;
/** As long as the cluster in memory settles before, and then its agents. */
const AHEAD_MS = 60_000 + SETTLE_MS;
const CLIENT = '{"clientVersion":{"major":"1","minor":"36","gitVersion":"v1.36.1"}}';

async function fleet(folder: string): Promise<Scenario> {
  const file = manifestFile(FROM, FILE, folder);
  await mkdir(dirname(file), { recursive: true });
  // Servers of today have stored it under the version that they still serve.
  await writeFile(file, (await readFile(manifestFile(FROM, FILE, releases), 'utf8')).replace('policy/v1beta1', 'policy/v1'));
  const clock = virtualClock({ start: new Date(Date.now() - AHEAD_MS) });
  const scenario = await installedSandbox({
    profile: calico,
    releasesFolder: folder,
    clock,
    cli: false,
    installed: FROM,
    file: FILE,
    nodes: 1,
  });
  scenario.cluster.store.listen(({ after }) => {
    if (after) version = Math.max(version, versionOf(after));
  });
  multiply(scenario);
  await clock.sleep(SETTLE_MS);
  clock.pace = 1000;
  return scenario;
}

/** The one node and its agent again and again, with a block of addresses each: made one by one, they would take minutes. */
function multiply({ cluster: { store, kinds } }: Scenario): void {
  const [node] = store.list(K.Node);
  const agent = store.list(K.Pod).find(({ metadata }) => metadata.name.startsWith('calico-node-'));
  if (!node || !agent) throw new Error('there is no node with an agent');
  const put = (kind: string, name: string, spec: object) => {
    const served = kinds().find((one) => one.kind === kind && one.group === calico.crdGroup);
    if (!served) throw new Error(`no ${kind}`);
    store.insert(served, { apiVersion: `${calico.crdGroup}/v1`, kind, metadata: { name }, spec });
  };
  const allocations = [0, ...Array.from({ length: 63 }, () => null)];
  const unallocated = Array.from({ length: 63 }, (_, index) => index + 1);
  for (let number = 1; number <= nodes; number += 1) {
    const name = number === 1 ? node.metadata.name : `node-${String(number).padStart(4, '0')}`;
    const cidr = `10.${16 + (number >> 10)}.${(number >> 2) & 255}.${(number & 3) * 64}/26`;
    const [address, dashed] = [cidr.split('/')[0], cidr.replaceAll(/[./]/g, '-')];
    const own = `198.18.${number >> 8}.${number & 255}`;
    const handle = `vxlan-tunnel-addr-${name}`;
    const attributes = [{ handle_id: handle, secondary: { node: name, type: 'vxlanTunnelAddress' } }];
    put('IPAMBlock', dashed, {
      affinity: `host:${name}`,
      allocations,
      attributes,
      cidr,
      deleted: false,
      strictAffinity: false,
      unallocated,
    });
    put('BlockAffinity', `${name}-${dashed}`, { cidr, deleted: 'false', node: name, state: 'confirmed' });
    put('IPAMHandle', handle, { block: { [cidr]: 1 }, deleted: false, handleID: handle });
    const status = node.status as { readonly conditions: readonly object[]; readonly nodeInfo: object };
    const whole = {
      ...node,
      metadata: {
        ...bare(node),
        name,
        labels: { ...node.metadata.labels, 'kubernetes.io/hostname': name },
        annotations: { 'projectcalico.org/IPv4Address': `${own}/16`, 'projectcalico.org/IPv4VXLANTunnelAddr': address ?? '' },
      },
      status: {
        ...status,
        addresses: [
          { type: 'InternalIP', address: own },
          { type: 'Hostname', address: name },
        ],
        conditions: [...PRESSURES, ...status.conditions],
        nodeInfo: { ...status.nodeInfo, ...MACHINE, machineID: name, systemUUID: name, bootID: name },
        images: IMAGES,
      },
    };
    if (number === 1) store.update(K.Node, { ...whole, metadata: { ...node.metadata, ...whole.metadata } });
    else {
      store.insert(K.Node, whole);
      const spec = { ...(agent.spec as object), nodeName: name };
      store.insert(K.Pod, { ...agent, metadata: { ...bare(agent), name: `calico-node-x${number.toString(36)}` }, spec });
    }
  }
}

function bare({ metadata: { uid: _, resourceVersion: _v, ...metadata } }: KubeObject): KubeObject['metadata'] {
  return metadata;
}

const pages = new Map<string, readonly KubeObject[]>();
/** Of the whole store: what a list has seen, so that a watch begins there. */
let version = 0;
const versionOf = ({ metadata }: KubeObject) => Number(metadata.resourceVersion);

/** The first page of what the cluster lists, or the next one of a list that was begun. */
async function page({ cluster }: Scenario, { url, headers }: Seen, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const place = placeOf(cluster.kinds(), pathname);
  const [token, rest] = [searchParams.get('continue') ?? '', Number(searchParams.get('limit')) || Number.POSITIVE_INFINITY];
  const selectors = ['labelSelector', 'fieldSelector'].map((key) => [key, searchParams.get(key)]).filter(([, value]) => value);
  const options = { ...(place?.namespace ? { namespace: place.namespace } : {}), ...Object.fromEntries(selectors) };
  const isPart = headers.accept?.includes('PartialObjectMetadataList') === true;
  const all = pages.get(token) ?? (place ? await cluster.list(place.kind, { ...options, metadataOnly: isPart }) : []);
  pages.delete(token);
  const next = all.length > rest ? `${pages.size}-${Math.random()}` : '';
  if (next) pages.set(next, all.slice(rest));
  sendJson(response, {
    ...{ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: String(version), ...(next ? { continue: next } : {}) } },
    items: next ? all.slice(0, rest) : all,
  });
}

async function watch({ cluster }: Scenario, kind: Kind, { url }: Seen, response: ServerResponse): Promise<void> {
  const { searchParams } = new URL(url, 'http://localhost');
  const end = new AbortController();
  response.on('close', () => end.abort());
  const selectors = ['labelSelector', 'fieldSelector'].map((key) => [key, searchParams.get(key)]).filter(([, value]) => value);
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for await (const update of cluster.watch(kind, { ...Object.fromEntries(selectors), signal: end.signal })) {
    const type = update.type === 'deleted' ? 'DELETED' : 'MODIFIED';
    const since = Number(searchParams.get('resourceVersion'));
    const objects = update.type === 'snapshot' ? update.items.filter((one) => versionOf(one) > since) : [update.object];
    for (const object of objects) response.write(`${JSON.stringify({ type, object })}\n`);
  }
}

async function write(
  { cluster }: Scenario,
  { method, body, headers }: Seen,
  place: NonNullable<ReturnType<typeof placeOf>>,
): Promise<unknown> {
  const { kind, namespace, name = '' } = place;
  const ref = { apiVersion: '', kind: kind.kind, name, ...(namespace ? { namespace } : {}) };
  const document = (body === '' ? {} : JSON.parse(body)) as KubeObject;
  if (method === 'POST') return cluster.create(kind, document);
  if (method === 'PUT') return cluster.replace(kind, document);
  if (method === 'DELETE') {
    const { uid, resourceVersion } = (document.preconditions ?? {}) as Readonly<Record<string, string>>;
    await cluster.remove(kind, { ...ref, ...(uid ? { uid } : {}) }, resourceVersion);
    return { kind: 'Status', apiVersion: 'v1', status: 'Success' };
  }
  if (headers['content-type']?.includes('json-patch'))
    return cluster.patch(kind, ref, document as unknown as readonly JsonPatchOp[], 'netsvc-upgrade');
  throw new ApiFailure(415, 'UnsupportedMediaType', String(headers['content-type']));
}

/** What the kubectl beside it was told: its words are in headers, its standard input is the body. */
async function kubectl({ cluster, files }: Scenario, { rawHeaders, body }: Seen, response: ServerResponse): Promise<void> {
  const words = rawHeaders.filter((_, index) => rawHeaders[index - 1] === 'x-word').filter((word) => !word.startsWith('--kubeconfig'));
  files.write('-', body);
  const { exitCode, stdout, stderr } = await sandboxTools(cluster, files).run({ tool: 'kubectl', args: words });
  response.writeHead(exitCode === 0 ? 200 : 422).end(stdout + stderr);
}

async function handle(scenario: Scenario, request: Seen, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/kubectl') return kubectl(scenario, request, response);
  const place = placeOf(scenario.cluster.kinds(), pathname);
  if (place && request.method === 'GET' && place.name === undefined)
    return searchParams.has('watch') ? watch(scenario, place.kind, request, response) : page(scenario, request, response);
  if (place && request.method !== 'GET' && !searchParams.has('dryRun') && !pathname.includes('/authorization.k8s.io/'))
    return sendJson(response, await write(scenario, request, place), request.method === 'POST' ? 201 : 200);
  return answer(scenario.cluster, request, response);
}

const folder = await mkdtemp(join(tmpdir(), 'bench-fleet-'));
const scenario = await fleet(join(folder, 'releases'));
const server = await serve(async (request, response) => {
  server.seen.length = 0;
  await handle(scenario, request, response).catch((thrown: unknown) => {
    const { status, reason, message } = thrown instanceof ApiFailure ? thrown : new ApiFailure(500, 'InternalError', String(thrown));
    sendStatus(response, status, reason, message);
  });
});
await writeFile(join(folder, 'config'), openKubeconfig(server.url));
const SCRIPT = `#!/bin/sh
case $1 in
  config) exec /bin/cat "$KUBECONFIG" ;;
  version) echo '${CLIENT}'; exit ;;
esac
for word; do shift; set -- "$@" -H "x-word: $word"; done
exec /usr/bin/curl -sS --fail-with-body --data-binary @- "$@" ${server.url}/kubectl
`;
await writeFile(join(folder, 'kubectl'), SCRIPT, { mode: 0o755 });
const env = { PATH: [folder, '/usr/bin', '/bin'].join(delimiter), HOME: folder, KUBECONFIG: join(folder, 'config') };
process.stdout.write(`${JSON.stringify(env)}\n`);
process.once('SIGTERM', async () => {
  await rm(folder, { recursive: true, force: true });
  process.exit();
});
for (;;) await scenario.clock.sleep(1000);
