import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { BIN_DIR } from '../../src/sandbox/sandbox-tools.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { type Change, findKind } from '../../src/sandbox/store.ts';
import { storedIn } from './chart-bench.ts';
import { testFolder } from './folders.ts';
import { objectOf } from './inventory.ts';
import { kvstoreScenario, FILE as STORE_FILE } from './kvstore-sandbox.ts';
import { GOOD } from './operated-bench.ts';
import { folderReleases, manifestFile, operatorReleases, releases } from './releases.ts';
import { installedSandbox } from './sandbox-ports.ts';
import { CALICO_TARGET } from './target.ts';

/** A cluster against whose upgrade nothing stands, with the profile that knows it. */
export interface Ground {
  readonly scenario: Scenario;
  readonly profile: Profile;
}

export type GroundName = keyof typeof GROUNDS;

/** What is installed; of the published releases, of which each row chooses its target. */
const GROUNDS = {
  /** v3.26.4 under the document's own names. */
  own: () => installedSandbox({ clock: virtualClock({ start: new Date() }), cli: false }),
  /** As old as an upgrade takes it. */
  old: () => installed('v3.15.5', 'calico-typha.yaml'),
  calico: () => installed('v3.27.5', 'calico.yaml'),
  'calico v3.30.3': () => installed('v3.30.3', 'calico.yaml'),
  'calico v3.31.2': () => installed('v3.31.2', 'calico.yaml'),
  typha: () => installed('v3.27.5', 'calico-typha.yaml'),
  canal: () => installed('v3.27.5', 'canal.yaml'),
  /** Its API server has a manifest of its own. */
  apiserver,
  kvstore: async () => ({
    ...(await kvstoreScenario('v3.18.0')),
    releases: folderReleases(releasesWith('v3.18.0', { [STORE_FILE]: releases })),
  }),
  operator: () => operator(),
  /** Its CRDs come from the operator itself, and it runs on those of the target. */
  'operator v3.31.7': () => operator('v3.31.7', 'calico-system'),
  chart,
} satisfies Readonly<Record<string, () => Promise<Scenario>>>;

export async function groundOf(name: GroundName): Promise<Ground> {
  return { scenario: await GROUNDS[name](), profile: name === 'own' ? netsvc : calico };
}

/** Releases that are not packed, by the text of one that is: what differs between them is not in their manifests. */
const ALIKE = new Map(
  Object.entries({
    'v3.27.2': 'v3.27.5',
    'v3.30.3': 'v3.30.7',
    'v3.30.4': 'v3.30.7',
    'v3.32.0': CALICO_TARGET,
    'v3.32.1': CALICO_TARGET,
    'v3.32.2': CALICO_TARGET,
    'v3.33.0': CALICO_TARGET,
  }),
);
const TARGETS = new Set(['v3.27.2', 'v3.30.4', 'v3.32.0', 'v3.32.1', 'v3.32.2', 'v3.33.0', CALICO_TARGET]);

async function installed(release: string, file: string, folder = releasesWith(release, { [file]: releases })): Promise<Scenario> {
  const clock = virtualClock({ start: new Date() });
  return installedSandbox({ profile: calico, releasesFolder: folder, clock, cli: false, installed: release, file });
}

/** A folder of releases, each file from where it lies; without schemas of CRDs, which are most of the text, but the one that is read here. */
function releasesWith(source: string, files: Readonly<Record<string, string>>): string {
  const folder = testFolder('incidents-');
  for (const release of [source, ...TARGETS]) {
    const like = ALIKE.get(release) ?? release;
    for (const [file, from] of Object.entries(files)) {
      const published = manifestFile(like, file, from);
      if (!existsSync(published)) continue;
      const text = shortened(published);
      const path = manifestFile(release, file, folder);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text.replaceAll(like, release));
    }
  }
  return folder;
}

const texts = new Map<string, string>();

/** Read once: some forty clusters are made of the same few files. */
function shortened(path: string): string {
  const text = texts.get(path) ?? shorten(path);
  texts.set(path, text);
  return text;
}

function shorten(path: string): string {
  // Servers of today have stored it under the version that they still serve.
  const { documents } = parseManifest(readFileSync(path, 'utf8').replace('policy/v1beta1', 'policy/v1'), path);
  return manifestText(documents.map(({ object }) => withoutSchemas(object)));
}

const ANY = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

function withoutSchemas(object: KubeObject): KubeObject {
  if (object.kind !== K.CustomResourceDefinition.kind || object.metadata.name.startsWith('felixconfigurations.')) return object;
  const spec = object.spec as { readonly versions: readonly object[] };
  return { ...object, spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, schema: ANY })) } } as KubeObject;
}

async function apiserver(): Promise<Scenario> {
  const folder = releasesWith('v3.27.5', { 'calico.yaml': releases, 'apiserver.yaml': releases });
  const scenario = await installed('v3.27.5', 'calico.yaml', folder);
  const path = manifestFile('v3.27.5', 'apiserver.yaml', folder);
  for (const { object } of parseManifest(readFileSync(path, 'utf8'), path).documents) scenario.cluster.installClientSide(object);
  makeAvailable(scenario);
  await scenario.clock.sleep(60_000);
  return scenario;
}

/** An operator with all that it rendered, and the v3 API in a namespace of its own unless it is of v3.31 or later. */
async function operator(release = 'v3.27.5', apiNamespace = 'calico-apiserver'): Promise<Scenario> {
  const files = { 'tigera-operator.yaml': operatorReleases, 'v1_crd_projectcalico_org.yaml': releases };
  const scenario = await installed(release, 'tigera-operator.yaml', releasesWith(release, files));
  const { cluster, clock } = scenario;
  if (release !== 'v3.27.5') defineAsOf(cluster, manifestFile('v3.27.5', 'tigera-operator.yaml', operatorReleases));
  for (const name of new Set(['calico-system', apiNamespace])) put(cluster, objectOf('v1', 'Namespace', name));
  for (const kind of ['GlobalNetworkPolicy', 'IPPool', 'Tier']) put(cluster, definition('crd.projectcalico.org', kind));
  put(cluster, definition('crd.projectcalico.org', 'NetworkPolicy', 'Namespaced'));
  const installation = put(cluster, objectOf('operator.tigera.io/v1', 'Installation', 'default', { spec: {} }));
  put(cluster, objectOf('operator.tigera.io/v1', 'APIServer', 'default', { spec: {} }));
  for (const name of ['calico', 'apiserver'])
    put(cluster, objectOf('operator.tigera.io/v1', 'TigeraStatus', name, { status: { conditions: GOOD } }));
  cluster.store.update(kindIn(cluster, installation), { ...installation, status: { calicoVersion: release } } as KubeObject);
  const { apiVersion, kind, metadata } = installation;
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true };
  for (const one of renderedBy(release, apiNamespace)) put(cluster, { ...one, metadata: { ...one.metadata, ownerReferences: [owner] } });
  const spec = { group: 'projectcalico.org', version: 'v3', service: { namespace: apiNamespace, name: 'calico-api' } };
  put(cluster, objectOf('apiregistration.k8s.io/v1', 'APIService', 'v3.projectcalico.org', { spec }));
  makeAvailable(scenario);
  await clock.sleep(60_000);
  return scenario;
}

/** The same, installed by chart. */
async function chart(): Promise<Scenario> {
  const scenario = await operator();
  makeCharted(scenario, { release: 'calico', operator: 'tigera-operator', group: 'operator.tigera.io' });
  for (const one of storedIn({})) put(scenario.cluster, one);
  return scenario;
}

/** The operator's objects name a release of its chart, and helm wrote them. */
export function makeCharted(
  { cluster, files }: Scenario,
  { release, operator: name, group }: { readonly release: string; readonly operator: string; readonly group: string },
): void {
  const { store } = cluster;
  const annotations = { 'meta.helm.sh/release-name': release, 'meta.helm.sh/release-namespace': name };
  const installations = kindIn(cluster, { apiVersion: `${group}/v1`, kind: 'Installation' });
  for (const kind of [K.Deployment, K.ServiceAccount, K.ClusterRole, K.ClusterRoleBinding, installations])
    for (const one of store.list(kind)) {
      if (one.metadata.name !== (kind === installations ? 'default' : name)) continue;
      const labels = { ...one.metadata.labels, 'app.kubernetes.io/managed-by': 'Helm' };
      const managedFields = one.metadata.managedFields?.map((entry) => ({ ...entry, manager: 'helm' })) ?? [];
      store.update(kind, { ...one, metadata: { ...one.metadata, labels, managedFields, annotations } });
    }
  files.write(`${BIN_DIR}/helm`, 'helm v3.19.5', true);
}

/** The v3 API answers. */
function makeAvailable({ cluster: { store } }: Scenario): void {
  for (const one of store.list(K.APIService))
    store.update(K.APIService, { ...one, status: { conditions: [{ type: 'Available', status: 'True' }] } } as KubeObject);
}

/** Definitions that are in no file of their own here. */
function defineAsOf(cluster: SandboxCluster, path: string): void {
  for (const { object } of parseManifest(readFileSync(path, 'utf8'), path).documents)
    if (object.kind === K.CustomResourceDefinition.kind) put(cluster, withoutSchemas(object));
}

const renderedBy = (release: string, apiNamespace: string): readonly KubeObject[] => [
  rendered(release, 'DaemonSet', 'calico-system', 'node', { hostNetwork: true }),
  rendered(release, 'Deployment', 'calico-system', 'typha', { hostNetwork: true }),
  rendered(release, 'Deployment', 'calico-system', 'kube-controllers'),
  rendered(release, 'Deployment', apiNamespace, 'apiserver'),
];

function rendered(release: string, kind: 'DaemonSet' | 'Deployment', namespace: string, image: string, more: object = {}): KubeObject {
  const name = `calico-${image}`;
  const labels = { 'k8s-app': name };
  const template = { metadata: { labels }, spec: { containers: [{ name, image: `quay.io/calico/${image}:${release}` }], ...more } };
  const spec = { ...(kind === 'Deployment' ? { replicas: 1 } : {}), selector: { matchLabels: labels }, template };
  return objectOf('apps/v1', kind, name, { metadata: { namespace, labels }, spec });
}

/** A CRD of that kind, as a product of somebody has brought it. */
export function definition(group: string, kind: string, scope: 'Cluster' | 'Namespaced' = 'Cluster', metadata: object = {}): KubeObject {
  const plural = `${kind.toLowerCase()}s`.replace(/(?<![aeiou])ys$/, 'ies');
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const spec = { group, names, scope, versions: [{ name: 'v1', served: true, storage: true, schema: ANY }] };
  return objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.${group}`, { metadata, spec });
}

export function kindIn(cluster: SandboxCluster, { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind {
  const found = findKind(cluster.kinds(), apiVersion, kind);
  if (!found) throw new Error(`the ground does not serve ${kind} of ${apiVersion}`);
  return found;
}

/** Creates an object as somebody does. */
export function put(cluster: SandboxCluster, object: KubeObject): KubeObject {
  return cluster.registry.create(kindIn(cluster, object), object, { manager: 'somebody' });
}

/** Until controllers have seen what was put back. Virtual milliseconds. */
const SEEN_MS = 10_000;

/** Does the work, then puts everything back that it has changed about the cluster; false where pods were replaced or a deletion began, which nobody can. */
export async function undone({ cluster, clock }: Scenario, work: () => Promise<void>): Promise<boolean> {
  const { store } = cluster;
  const own = { ...cluster };
  const changes: Change[] = [];
  const stop = store.listen((change) => void changes.push(change));
  try {
    await work();
  } finally {
    stop();
    Object.assign(cluster, own);
    for (const { kind, before, after } of changes.toReversed()) {
      if (after && !before) store.delete(kind, after.metadata.name, after.metadata.namespace);
      else if (before && after) store.update(kind, before);
      else if (before) store.insert(kind, before);
    }
    await clock.sleep(SEEN_MS);
  }
  return !changes.some(
    ({ kind, before, after }) => after?.metadata.deletionTimestamp !== undefined || (kind.plural === K.Pod.plural && !(before && after)),
  );
}
