import type { Invocation, Tools } from '../../kernel/argv.ts';
import type { Reading } from '../../kernel/check.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { jsonAt, mapAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { endedForMemory, hasEnded, podAddresses, podContainers, podFacts, podShape } from '../../kube/pod-facts.ts';
import type { ClientFacts, PodView, ResourceList, WorkFolderFacts } from './facts.ts';
import type { CrdFact } from './inventory.ts';
import { attempt, attemptWith } from './reading.ts';

/** Address bookkeeping: as many objects as pods, written by the agents alone; no user's values are in them. */
const BOOKKEEPING = new Set(['ipamblocks', 'ipamhandles', 'blockaffinities', 'ipamconfigs']);

/** One list per kind of the service's stored resources, and of kinds that the target does not enforce any more. */
export async function readResources(
  cluster: ClusterReader,
  discovery: Reading<{ readonly kinds: readonly Kind[] }>,
  profile: Profile,
): Promise<Reading<readonly ResourceList[]>> {
  return attemptWith(discovery, ({ kinds }) =>
    Promise.all(
      kinds.filter((kind) => isWanted(kind, profile)).map(async (kind) => ({ kind, objects: await attempt(() => cluster.list(kind)) })),
    ),
  );
}

export const isBookkeeping = ({ group, plural }: Kind, { crdGroup }: Profile): boolean => group === crdGroup && BOOKKEEPING.has(plural);

function isWanted(kind: Kind, profile: Profile): boolean {
  const { crdGroup, removedKinds } = profile;
  if (kind.plural.includes('/')) return false;
  if (kind.group === crdGroup) return !isBookkeeping(kind, profile);
  return removedKinds.some(({ group, plural }) => group === kind.group && plural === kind.plural);
}

/** ConfigMaps with the mesh's injector templates, of every revision; none if there is no such namespace. */
export async function readInjectors(cluster: ClusterReader, { sidecar }: Profile): Promise<readonly KubeObject[]> {
  const maps = await cluster.list(K.ConfigMap, { namespace: sidecar.injectorNamespace });
  return maps.filter(({ metadata }) => metadata.name.startsWith(sidecar.injectorConfigMap));
}

/** Mode in the configuration of kube-proxy; '' if it does not say, undefined without the ConfigMap that kubeadm makes. */
export async function readProxyMode(cluster: ClusterReader): Promise<string | undefined> {
  const config = await cluster.get(K.ConfigMap, 'kube-proxy', 'kube-system');
  return config && proxyModeIn(Object.values(mapAt(config, 'data')).join('\n'));
}

export function proxyModeIn(text: string): string {
  return /^[ \t]*mode:[ \t]*"?([A-Za-z]*)"?[ \t\r]*$/m.exec(text)?.[1] ?? '';
}

/** The agents' ConfigMap: the one of the profile's variants that is there. */
export async function readAgentConfig(
  cluster: ClusterReader,
  profile: Profile,
  variant: string | undefined,
): Promise<KubeObject | undefined> {
  const chosen = profile.variants.find((one) => one.id === variant);
  return chosen && cluster.get(K.ConfigMap, chosen.configMap, chosen.agent.namespace);
}

/** Keeps of a pod what the checks look at: a cluster has thousands of them. */
export function podView(pod: KubeObject): PodView {
  const { spec } = podShape(pod);
  const { namespace, name, node, readyContainers, containers, readyCondition, terminating, trouble } = podFacts(pod);
  const outOfMemory = endedForMemory(pod);
  const addresses = podAddresses(pod);
  return {
    ...{ namespace, name, node, readyContainers, terminating },
    labels: pod.metadata.labels ?? {},
    containers: podContainers(pod).map((container) => ({ name: container.name, image: container.image })),
    regularContainers: containers,
    ready: readyCondition,
    ...(hasEnded(pod) ? { ended: true } : {}),
    ...(outOfMemory.length > 0 ? { outOfMemory } : {}),
    ...(spec?.hostNetwork ? { hostNetwork: true } : {}),
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(trouble ? { trouble: `${trouble.container}: ${trouble.reason}` } : {}),
    flexDrivers: (spec?.volumes ?? []).flatMap(({ flexVolume }) => (flexVolume?.driver === undefined ? [] : [flexVolume.driver])),
  };
}

/** Definitions are large: not all of them are to be in memory at once. */
const AT_ONCE = 8;

/** Versions in which objects may be stored, only for the service's own resources (domain §2). */
export async function withStoredVersions(
  cluster: Pick<ClusterReader, 'get'>,
  crds: readonly CrdFact[],
  { crdGroup }: Pick<Profile, 'crdGroup'>,
): Promise<readonly CrdFact[]> {
  return eachOf(crds, AT_ONCE, async (crd) => {
    if (crd.group !== crdGroup) return crd;
    const stored = jsonAt(await cluster.get(K.CustomResourceDefinition, crd.name), 'status', 'storedVersions');
    return { ...crd, storedVersions: (stored ?? []) as readonly string[] };
  });
}

const ANSWER_MS = 15_000;

/** The kubectl that would be run, and its own version: looked for each time, asked once per command. */
export async function readClient(tools: Tools): Promise<ClientFacts> {
  const [path] = await tools.which('kubectl');
  const { os, arch } = tools.platform();
  const platform = `${os}/${arch}`;
  if (path === undefined) return { platform };
  const version: Invocation = { tool: 'kubectl', args: ['version', '--client', '-o', 'json'] };
  const { exitCode, stdout } = await tools.run(version, { timeoutMs: ANSWER_MS, answer: 'earlier' });
  const gitVersion = exitCode === 0 ? /"gitVersion":\s*"([^"]+)"/.exec(stdout)?.[1] : undefined;
  return gitVersion === undefined ? { path, platform } : { path, gitVersion, platform };
}

export async function readWorkFolder({ work, files }: Pick<Sources, 'work' | 'files'>): Promise<WorkFolderFacts> {
  const { standsInFor } = work;
  if (standsInFor !== undefined) return { path: standsInFor, freeBytes: await work.freeBytes(), writable: false };
  const [freeBytes, writable] = await Promise.all([work.freeBytes(), files.writable(work.path)]);
  return { path: work.path, freeBytes, writable };
}
