import { allOf } from '../../kernel/each-of.ts';
import type { PrunableCrd } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { crdName, type Kind, type KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader, type ListOptions, type Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { leanPod } from '../../kube/lean-objects.ts';
import { type PodFacts, podFacts } from '../../kube/pod-facts.ts';
import { serviceNamespaces } from './components.ts';
import { agentSettingsIn } from './data-plane.ts';
import { prunersOf } from './managed-by.ts';
import { attemptApi } from './reading.ts';
import { findOperator } from './release-evidence.ts';
import { readMoved } from './stored-release.ts';

/** Marks what the image probe creates, so that the one of a killed run is found. */
export const PROBE_LABEL = 'netsvc-upgrade/probe';

/** Reads what detection needs, as metadata where that is enough; an unreadable part keeps its reason, an unknown kind is empty. */
export async function readInventory({ cluster, records }: Pick<Sources, 'cluster' | 'records'>, profile: Profile) {
  const namespaces = serviceNamespaces(profile);
  const { installationKind } = profile.operator;
  const crds = attemptApi(() => listCrds(cluster));
  const installations = attemptApi(async () => readByOperator(await listAll(cluster, { ...installationKind, namespaced: false })));
  const read = await allOf({
    /** Of all namespaces, as are Deployments. Pods of a probe of ours have the agents' images and are none. */
    daemonSets: attemptApi<readonly KubeObject[]>(async () =>
      (await listAll(cluster, K.DaemonSet)).filter(({ metadata }) => metadata.labels?.[PROBE_LABEL] === undefined),
    ),
    deployments: attemptApi(() => listAll(cluster, K.Deployment)),
    /** Of the namespaces and workloads of the service. */
    pods: attemptApi(() => servicePods(cluster, namespaces, profile)),
    /** Of the namespaces in which the service may run. */
    configMaps: attemptApi(() => listIn(cluster, K.ConfigMap, namespaces)),
    crds,
    migrations: crds.then((read) => ('unread' in read ? read : attemptApi(() => migrationsIn(cluster, profile, read.value)))),
    agentSettings: crds.then((read) => ('unread' in read ? read : attemptApi(() => agentSettingsIn(cluster, profile, read.value)))),
    installations,
    /** Those by which the operator knows where it runs; read where there is an Installation. */
    services: installations.then((read) =>
      attemptApi(() => ('value' in read && read.value.length > 0 ? servicesOf(cluster, profile) : none)),
    ),
    /** Secrets and ConfigMaps in which chart releases are stored: metadata only. */
    chartReleases: attemptApi(() => chartReleasesIn(cluster)),
    clusterInformation: attemptApi(() => clusterInformationOf(cluster, profile)),
    nodes: attemptApi(() => listAll(cluster, K.Node, { metadataOnly: true, keep: withLabels(labelsOf(profile), labelStartsOf(profile)) })),
  });
  const { deployments, chartReleases } = read;
  const operator = 'value' in deployments ? findOperator(deployments.value, profile) : undefined;
  const named = [...(operator ? [operator] : []), ...('value' in read.installations ? read.installations.value.slice(0, 1) : [])];
  return { ...read, moved: await readMoved(records, named, chartReleases) };
}

/** The operator reads these two alone. Another one stands for the installation only where neither is there. */
function readByOperator(all: readonly KubeObject[]): readonly KubeObject[] {
  const own = ['default', 'overlay'].flatMap((name) => all.filter(({ metadata }) => metadata.name === name));
  return own.length > 0 ? own : all;
}

/** In Secrets, unless the user told the chart tool to use ConfigMaps; those matter only where they can be read. */
async function chartReleasesIn(cluster: ClusterReader): Promise<readonly KubeObject[]> {
  const options = { labelSelector: 'owner=helm', metadataOnly: true };
  const [secrets, configMaps] = await Promise.all([
    listAll(cluster, K.Secret, options),
    attemptApi(() => listAll(cluster, K.ConfigMap, options)),
  ]);
  return 'value' in configMaps ? [...secrets, ...configMaps.value] : secrets;
}

/** Labels of nodes that procedures of the service set. */
function labelsOf({ operator, procedures }: Profile): readonly string[] {
  const { takeOver } = procedures ?? {};
  return [operator.migrationLabel?.key, takeOver?.label, takeOver?.working].filter((key) => key !== undefined);
}

/** How labels of nodes begin by which the operator knows where it runs, and what it looks for beside them. */
function labelStartsOf({ operator: { crossings } }: Profile): readonly string[] {
  return (crossings?.findings ?? [])
    .flatMap((row) => ('nodeLabel' in row ? [row.nodeLabel, row.beside] : []))
    .filter((start) => start !== undefined);
}

const none: Promise<readonly KubeObject[]> = Promise.resolve([]);

async function servicesOf(cluster: ClusterReader, { operator: { crossings } }: Profile): Promise<readonly KubeObject[]> {
  const named = (crossings?.findings ?? []).flatMap((row) => ('service' in row ? [row] : []));
  const found = await Promise.all(named.map(({ service, namespace }) => cluster.get(K.Service, service, namespace)));
  return found.filter((one) => one !== undefined);
}

/** By the labels: lists that are cut down alike are read once in a look. */
const cuts = new Map<string, (node: KubeObject) => KubeObject>();

/** Name and a few labels, all that detection reads of a node. */
function withLabels(keys: readonly string[], starts: readonly string[]): (node: KubeObject) => KubeObject {
  const cut = ({ apiVersion, kind, metadata: { name, labels = {} } }: KubeObject): KubeObject => {
    const kept = Object.entries(labels).filter(([key]) => keys.includes(key) || starts.some((start) => key.startsWith(start)));
    return { apiVersion, kind, metadata: { name, ...(kept.length === 0 ? {} : { labels: Object.fromEntries(kept) }) } };
  };
  const by = [...keys, '', ...starts].join();
  const known = cuts.get(by) ?? cut;
  cuts.set(by, known);
  return known;
}

/** Asked for only where somebody has added their CRD. */
async function migrationsIn(cluster: ClusterReader, { procedures }: Profile, crds: readonly CrdFact[]): Promise<readonly KubeObject[]> {
  const kind = procedures?.migration;
  return kind && crds.some(({ name }) => name === crdName(kind)) ? listAll(cluster, kind) : [];
}

/** All namespaces; empty where the server does not serve the kind. */
async function listAll(cluster: ClusterReader, kind: Kind, options?: ListOptions): Promise<readonly KubeObject[]> {
  try {
    return await cluster.list(kind, options);
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return [];
    throw thrown;
  }
}

async function listIn(cluster: ClusterReader, kind: Kind, namespaces: readonly string[], options?: ListOptions) {
  const lists = await Promise.all(namespaces.map((namespace) => listAll(cluster, kind, { ...options, namespace })));
  return lists.flat();
}

/** Only the service's pods, by their `k8s-app` label, and of each only what a rollout needs. */
async function servicePods(cluster: ClusterReader, namespaces: readonly string[], profile: Profile): Promise<readonly PodFacts[]> {
  const { operator, variants, addOns } = profile;
  const workloads = [
    ...variants.flatMap((variant) => [variant.agent, variant.controllers, variant.typha]),
    ...[operator.agent, operator.controllers, operator.typha],
    ...addOns.map((addOn) => addOn.workload),
  ];
  const names = [...new Set(workloads.flatMap((workload) => workload?.name ?? []))];
  const labelSelector = `k8s-app in (${names.join(',')})`;
  const pods = await listIn(cluster, K.Pod, namespaces, { labelSelector, keep: leanPod });
  return pods.map(podFacts);
}

/** Names of all CRDs, from their metadata: a definition is large, and its name tells what is served. */
async function listCrds(cluster: ClusterReader): Promise<readonly CrdFact[]> {
  return (await listAll(cluster, K.CustomResourceDefinition, { metadataOnly: true })).map(({ metadata }) => {
    const pruners = prunersOf(metadata);
    const created = metadata.creationTimestamp === undefined ? {} : { createdAt: metadata.creationTimestamp };
    const ending = metadata.deletionTimestamp === undefined ? {} : { deletedAt: metadata.deletionTimestamp };
    return { ...crdFact(metadata.name), ...created, ...ending, ...(pruners.length > 0 ? { pruners } : {}) };
  });
}

/** From the stored v1 group; with native v3 CRDs it is in the v3 group instead. */
async function clusterInformationOf(cluster: ClusterReader, profile: Profile): Promise<KubeObject | undefined> {
  const { plural, kind, name } = profile.clusterInformation;
  const stored = await cluster.get({ group: profile.crdGroup, version: 'v1', kind, plural, namespaced: false }, name);
  return stored ?? cluster.get({ group: profile.apiGroup, version: 'v3', kind, plural, namespaced: false }, name);
}

/** A CRD, by its name. */
export interface CrdFact {
  /** `felixconfigurations.crd.example.io` */
  readonly name: string;
  readonly plural: string;
  readonly group: string;
  readonly createdAt?: string;
  /** Since when it is being deleted. */
  readonly deletedAt?: string;
  /** Delivery tools that may delete it. */
  readonly pruners?: readonly PrunableCrd[];
  /** Versions in which objects may be stored; undefined where nobody asked. */
  readonly storedVersions?: readonly string[];
}

/** What the cluster holds of the service, read once (§1; domain §2). Unreadable parts say why; unserved kinds are empty. */
export type Inventory = Awaited<ReturnType<typeof readInventory>>;

/** The fact behind a CRD's name, `plural.group`. */
export function crdFact(name: string): CrdFact {
  const [plural = '', ...group] = name.split('.');
  return { name, plural, group: group.join('.') };
}
