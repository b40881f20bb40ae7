import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type StoredBases, storedManifests } from '../../src/adapters/stored-bases.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import type { Tools } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { manifestText } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { findKind } from '../../src/sandbox/store.ts';
import { charted, helmOf } from './charted-releases.ts';
import { kindIn, put } from './incident-grounds.ts';
import { objectOf } from './inventory.ts';
import { OPERATOR_FILE, type OperatedRelease, operatedRelease } from './operated-releases.ts';
import { withKnownChart } from './played-helm.ts';
import { folderReleases, manifestFile } from './releases.ts';
import { sandboxCommand } from './sandbox-command.ts';
import { installedSandbox } from './sandbox-ports.ts';

/** A cluster where nobody has changed anything, and the folder of the release that it is to get. */
export interface Untouched {
  readonly scenario: Scenario;
  readonly tools?: (tools: Tools) => Tools;
}

/** Where this process may write the manifests that it installs, and where the target's are. */
export interface Folders {
  readonly installed: string;
  readonly targets: string;
}

/** On a server of today, which no longer has some kinds of old releases. */
export async function byManifest(objects: readonly KubeObject[], release: string, file: string, folders: Folders): Promise<Untouched> {
  const served = objects.filter(({ apiVersion }) => !apiVersion.endsWith('beta1'));
  const first = served.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  const scenario = await scenarioOf(first, release, file, folders);
  makeOrdinary(scenario.cluster);
  return { scenario };
}

/** `kubectl create -f tigera-operator.yaml -f custom-resources.yaml`, with all that the operator made of it. */
export async function byOperator(
  stored: StoredBases,
  release: string,
  folders: Folders,
  manifest?: readonly KubeObject[],
): Promise<Untouched> {
  return { scenario: await operated(operatedRelease(stored, release, manifest), release, folders, 'kubectl-create') };
}

/** `helm install calico tigera-operator`, with all that the operator made of it. */
export async function byChart(stored: StoredBases, release: string, folders: Folders): Promise<Untouched> {
  const target = operatedRelease(stored, calico.defaultRelease);
  const scenario = await operated(charted(operatedRelease(stored, release), release), release, folders, 'helm');
  return { scenario, tools: helmOf(scenario, target, calico.defaultRelease) };
}

async function operated(release: OperatedRelease, name: string, folders: Folders, manager: string): Promise<Scenario> {
  const [namespaces, documents] = [release.documents.filter(isFirst), release.documents.filter((one) => !isFirst(one))];
  const scenario = await scenarioOf(namespaces, name, OPERATOR_FILE, folders);
  const { cluster, clock } = scenario;
  const create = (objects: readonly KubeObject[], by: string) => objects.map((one) => made(cluster, one, by));
  create([...release.definitions, ...documents], manager);
  const owners = create(release.resources, manager);
  const owned = release.rendered.map((one) => withOwner(one, owners));
  create(
    owned.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))),
    'operator',
  );
  await clock.sleep(60_000);
  makeOrdinary(cluster);
  return scenario;
}

function withOwner(object: KubeObject, owners: readonly KubeObject[]): KubeObject {
  const references = object.metadata.ownerReferences?.map((one) => ({
    ...one,
    uid: owners.find(({ kind }) => kind === one.kind)?.metadata.uid ?? '',
  }));
  return references ? { ...object, metadata: { ...object.metadata, ownerReferences: references } } : object;
}

/** With its status, which its controller writes. */
function made(cluster: SandboxCluster, object: KubeObject, manager: string): KubeObject {
  const kind = kindIn(cluster, object);
  const created = cluster.registry.create(kind, object, { manager });
  const { status } = object as { readonly status?: unknown };
  return status === undefined ? created : cluster.store.update(kind, { ...created, status } as KubeObject);
}

async function scenarioOf(objects: readonly KubeObject[], release: string, file: string, folders: Folders): Promise<Scenario> {
  writeManifest(manifestFile(release, file, folders.installed), objects);
  const clock = virtualClock({ start: new Date() });
  const scenario = await installedSandbox({
    profile: calico,
    releasesFolder: folders.installed,
    clock,
    cli: false,
    installed: release,
    file,
  });
  return { ...scenario, releases: folderReleases(folders.targets) };
}

const isFirst = ({ kind }: KubeObject) => kind === 'Namespace' || kind === 'CustomResourceDefinition';

export function writeManifest(path: string, objects: readonly KubeObject[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, manifestText(objects));
}

/** What a command evaluates there, and what it raises; of what it says of others by their ids, each of them. */
export async function findingsOf({ scenario, tools = (same) => same }: Untouched, ...words: readonly string[]) {
  const bench = sandboxCommand(scenario, calico);
  const { compose } = bench.seams;
  const stored = storedManifests(calico.name);
  const withBases = async (request: ComposeRequest) => {
    const composed = await compose(request);
    return { ...composed, stored, artifacts: withKnownChart(composed.artifacts), tools: tools(composed.tools) };
  };
  Object.assign(bench.seams, { compose: withBases });
  await bench.run(...words, '-o', 'wide', '--release', calico.defaultRelease);
  const out = bench.out();
  const raised = [...out.matchAll(/^[×‼] (NS-\d+) .*$/gm)].flatMap(([text, id = '']) => {
    const others = id === 'NS-608' ? [...text.slice(id.length + 2).matchAll(/NS-\d+/g)].map(([other]) => other) : [];
    return [id, ...others].map((one) => ({ id: one, text }));
  });
  return { evaluated: [...out.matchAll(/^[√×‼i~] (NS-\d+)/gm)].map(([, id = '']) => id), raised };
}

/** What nodes report of themselves, and what agents and people store, where nothing is the matter. */
function makeOrdinary(cluster: SandboxCluster): void {
  for (const [index, node] of cluster.store.list(K.Node).entries()) {
    const address = `10.0.0.${index + 1}`;
    const annotations = { 'projectcalico.org/IPv4Address': `${address}/24` };
    const status = node.status as { readonly nodeInfo: object };
    const nodeInfo = { ...status.nodeInfo, osImage: 'Debian GNU/Linux 13 (trixie)', containerRuntimeVersion: 'containerd://2.1.4' };
    const addresses = [{ type: 'InternalIP', address }];
    cluster.store.update(K.Node, {
      ...node,
      metadata: { ...node.metadata, annotations },
      status: { ...status, nodeInfo, addresses },
    } as KubeObject);
  }
  // As the agents create it: those of the manifest for eBPF have no encapsulation.
  const isPlain = /"CALICO_IPV4POOL_IPIP","value":"Never"/.test(JSON.stringify(cluster.store.list(K.DaemonSet)));
  const specs = {
    'IPPool/default-ipv4-ippool': { cidr: '192.168.0.0/16', ipipMode: isPlain ? 'Never' : 'Always', natOutgoing: true },
    'FelixConfiguration/default': { logSeverityScreen: 'Info', reportingInterval: '0s' },
    'BGPConfiguration/default': { asNumber: 64512, nodeToNodeMeshEnabled: true },
    'GlobalNetworkPolicy/default.dns': { selector: 'all()', types: ['Egress'], egress: [{ action: 'Allow' }] },
    'GlobalNetworkSet/partners': { nets: ['203.0.113.0/24'] },
  };
  for (const [text, spec] of Object.entries(specs)) {
    const [kind = '', name = ''] = text.split('/');
    const object = objectOf('crd.projectcalico.org/v1', kind, name, { spec });
    const isServed = findKind(cluster.kinds(), object.apiVersion, kind) !== undefined;
    // Some manifests bring the first of them.
    if (isServed && !cluster.store.get(kindIn(cluster, object), name)) put(cluster, object);
  }
}
