import { K } from '../kernel/kinds.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../kernel/object.ts';
import { ApiFailure, type Cluster, type ListOptions } from '../kernel/ports.ts';
import type { Profile } from '../kernel/profile.ts';
import { imageRelease } from '../kernel/release.ts';
import { OWN_MANAGER } from '../kube/managed-fields.ts';
import { podShape } from '../kube/pod-facts.ts';
import { ApiFaults } from './api-faults.ts';
import { CLIENT_SIDE, clientSideDocument } from './apply.ts';
import type { VirtualClock } from './clock.ts';
import { type EndpointFaults, startHostEndpoints } from './host-endpoints.ts';
import { KeptConnections } from './kept-connections.ts';
import { Nodes } from './nodes.ts';
import { startPolicyRenaming } from './policy-renaming.ts';
import { Registry } from './registry.ts';
import { findKind, resourceText, Store, servedKinds } from './store.ts';
import { isSelected, watchStore } from './watch.ts';
import { startWorkloads } from './workloads.ts';

export interface SandboxOptions {
  /** The service that the cluster runs: by its names the controllers and agents know their objects. */
  readonly profile: Profile;
  readonly clock: VirtualClock;
  /** How long pods take. */
  readonly pullMs?: number;
  readonly readyMs?: number;
}

/** A cluster in memory: API server, workload controllers, nodes and the service's agents. */
export interface SandboxCluster extends Cluster {
  readonly profile: Profile;
  readonly store: Store;
  readonly registry: Registry;
  readonly faults: ApiFaults;
  readonly nodes: Nodes;
  readonly endpointFaults: EndpointFaults;
  /** As `kubectl apply` without `--server-side`, the first time. */
  installClientSide(document: KubeObject): KubeObject;
  /** Resources served now. */
  kinds(): readonly Kind[];
}

export const SERVER_VERSION = { gitVersion: 'v1.36.1', major: '1', minor: '36' };

export function sandboxCluster(options: SandboxOptions): SandboxCluster {
  const { clock, profile } = options;
  const store = new Store(clock);
  const faults = new ApiFaults();
  const registry = new Registry({ store, clock, faults });
  const nodes = new Nodes(store);
  let served: readonly Kind[] | undefined;
  store.listen(({ kind }) => {
    if (kind.plural === K.CustomResourceDefinition.plural) served = undefined;
  });
  const kinds = () => {
    served ??= servedKinds(store);
    return served;
  };
  startWorkloads({ store, clock, nodes, pullMs: options.pullMs ?? 4000, readyMs: options.readyMs ?? 3000 });
  startAgents(store, profile);
  const endpointFaults: EndpointFaults = { never: new Set() };
  startHostEndpoints(store, clock, profile, endpointFaults);
  startPolicyRenaming(store, clock, profile);
  const read = readerOf(store, faults, kinds, new KeptConnections(store, clock, nodes));
  const write = { manager: OWN_MANAGER };
  return {
    ...read,
    profile,
    store,
    registry,
    faults,
    nodes,
    endpointFaults,
    kinds,
    reviewAccess: async (requests) => requests.map(() => true),
    dryRunApply: async (kind, document, manager) => registry.apply(kind, document, { manager, dryRun: true }),
    dryRunPatch: async (kind, ref, patch, manager) => registry.jsonPatch(kind, ref, patch, { manager, dryRun: true }),
    dryRunCreate: async (kind, document) => registry.create(kind, document, { ...write, dryRun: true }),
    patch: async (kind, ref, patch, manager) => registry.jsonPatch(kind, ref, patch, { manager }),
    create: async (kind, object) => registry.create(kind, object, write),
    replace: async (kind, object) => registry.replace(kind, object, write),
    remove: async (kind, ref, version) => registry.remove(kind, ref, version),
    installClientSide(document) {
      const kind = findKind(kinds(), document.apiVersion, document.kind);
      if (!kind) throw new ApiFailure(404, 'NotFound', `no matches for kind "${document.kind}" in version "${document.apiVersion}"`);
      return registry.create(kind, clientSideDocument(document), { manager: CLIENT_SIDE });
    },
  };
}

type Reader = Pick<Cluster, 'version' | 'clockSkewMs' | 'discover' | 'resolve' | 'get' | 'list' | 'watch' | 'raw'>;

function readerOf(store: Store, faults: ApiFaults, kinds: () => readonly Kind[], connections: KeptConnections): Reader {
  const isServed = (kind: Kind) =>
    kinds().some((one) => one.group === kind.group && one.plural === kind.plural && one.version === kind.version);
  const served = (kind: Kind) => {
    faults.alive();
    if (!isServed(kind)) throw new ApiFailure(404, 'NotFound', 'the server could not find the requested resource');
  };
  return {
    version: async () => SERVER_VERSION,
    clockSkewMs: async () => 0,
    discover: async () => ({ kinds: preferred(kinds()), failed: [] }),
    resolve: async (apiVersion, kind) => findKind(kinds(), apiVersion, kind),
    async get(kind, name, namespace) {
      faults.alive();
      return isServed(kind) ? store.get(kind, name, namespace) : undefined;
    },
    async list(kind, options = {}) {
      served(kind);
      const found = store.list(kind).filter((object) => isSelected(object, options));
      const read = options.metadataOnly || options.ownedBy ? found.map(onlyMetadata) : found;
      return options.keep ? read.map(options.keep) : read;
    },
    async *watch(kind, options: ListOptions & { readonly signal: AbortSignal }) {
      served(kind);
      yield* watchStore(store, kind, options);
    },
    raw: async (path) => {
      const [, namespace, pod] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log\?/.exec(path) ?? [];
      if (namespace === undefined || pod === undefined) return rawText(store, kinds(), path);
      faults.alive();
      return connections.logOf(namespace, pod);
    },
  };
}

/** One version of each resource. */
function preferred(kinds: readonly Kind[]): readonly Kind[] {
  return [...new Map(kinds.toReversed().map((kind) => [resourceText(kind), kind])).values()].toReversed();
}

function onlyMetadata({ metadata, apiVersion, kind }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata };
}

/** `/version`, `/healthz` and the like, group versions, lists and single objects. */
function rawText(store: Store, kinds: readonly Kind[], path: string): string {
  const [plain = '', query] = path.split('?');
  if (plain === '/version') return JSON.stringify(SERVER_VERSION);
  if (['/healthz', '/livez', '/readyz'].includes(plain)) return 'ok';
  const [, apiVersion, rest] = /^\/apis?\/((?:[^/]*\.[^/]*|apps|batch|policy)\/v\w+|v1)(?:\/(.*))?$/.exec(plain) ?? [];
  const mine = kinds.filter((kind) => apiVersionOf(kind) === apiVersion);
  if (mine.length > 0 && !rest)
    return JSON.stringify({ kind: 'APIResourceList', groupVersion: apiVersion, resources: mine.map(resourceOf) });
  const [, namespace, plural, name] = /^(?:namespaces\/([^/]+)\/)?([^/]+)(?:\/([^/]+))?$/.exec(rest ?? '') ?? [];
  const kind = mine.find((one) => one.plural === plural);
  if (kind && !name) return JSON.stringify({ items: store.list(kind).filter((one) => isSelected(one, selectedBy(namespace, query))) });
  const object = kind && name ? store.get(kind, name, namespace) : undefined;
  if (!object) throw new ApiFailure(404, 'NotFound', 'the server could not find the requested resource');
  return JSON.stringify(object);
}

function selectedBy(namespace: string | undefined, query = ''): ListOptions {
  const { labelSelector = '', fieldSelector = '' } = Object.fromEntries(new URLSearchParams(query));
  return { ...(namespace ? { namespace } : {}), labelSelector, fieldSelector };
}

function resourceOf({ plural, kind, namespaced }: Kind) {
  return { name: plural, kind, namespaced, verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'] };
}

/** Each starting agent writes its release into the cluster information, so the first new one changes it (domain §0.7). */
function startAgents(store: Store, { crdGroup, clusterInformation: names, variants }: Profile): void {
  const agents = new Set(variants.map(({ agent }) => agent.container));
  store.listen(({ kind, before, after }) => {
    if (kind.plural !== K.Pod.plural || !after) return;
    const agent = podShape(after).spec?.containers?.find(({ name }) => agents.has(name));
    if (!agent || !runs(after, agent.name) || (before && runs(before, agent.name))) return;
    const information = servedKinds(store).find(({ group, plural }) => group === crdGroup && plural === names.plural);
    const release = imageRelease(agent.image);
    if (information && release) writeRelease(store, information, names, release);
  });
}

function runs(pod: KubeObject, container: string): boolean {
  const { containerStatuses = [] } = podShape(pod).status ?? {};
  return containerStatuses.find(({ name }) => name === container)?.state?.running !== undefined;
}

function writeRelease(store: Store, kind: Kind, { name, versionField }: Profile['clusterInformation'], release: string): void {
  const live = store.get(kind, name);
  const apiVersion = apiVersionOf(kind);
  if (live) store.update(kind, { ...live, spec: { ...(live.spec as object), [versionField]: release } });
  else
    store.insert(kind, {
      apiVersion,
      kind: kind.kind,
      metadata: { name },
      spec: { [versionField]: release, datastoreReady: true },
    });
}
