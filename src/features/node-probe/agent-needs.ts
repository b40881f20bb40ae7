import { isIPv4, isIPv6 } from '../../kernel/ip-text.ts';
import { type JsonMap, jsonAt, mapAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, isOlder, sameMinor } from '../../kernel/release.ts';
import { recordsIn } from '../../manifest/prepare.ts';

/** A folder or file of the node that the agent mounts. */
export interface HostMount {
  readonly volume: string;
  readonly path: string;
  /** `DirectoryOrCreate`, `File`; '' where the agent asks for none. */
  readonly type: string;
  readonly mountPath: string;
  readonly propagation?: string;
  /** How it is tried after the first try has failed: as a file instead of a folder, or the reverse; or the folder above it. */
  readonly tried?: 'other type' | 'above';
}

/** What a node has to give to the agent of the target, as far as a pod can try it. */
export interface AgentNeeds {
  readonly image: string;
  readonly mounts: readonly HostMount[];
  /** A container of the agent mounts Bidirectional, which only privileged ones may. */
  readonly isPrivileged: boolean;
  readonly hostNetwork: boolean;
  readonly dnsPolicy?: string;
  readonly tolerations: readonly unknown[];
  readonly resources: JsonMap;
  /** That the running agent does not hold already. */
  readonly ports: readonly number[];
  /** Name of the API server that the resolver of the node has to know. */
  readonly resolves?: string;
}

interface Around {
  readonly profile: Profile;
  readonly release: string;
  /** Of the running agents. */
  readonly source: string | undefined;
  readonly isEbpf: boolean;
  /** DaemonSet of the running agents. */
  readonly live: KubeObject | undefined;
  /** By which the agents reach the API server, where that is set. */
  readonly apiHost: string | undefined;
  /** The template is that of the running agents, to which the target's operator adds mounts. */
  readonly isRunning: boolean;
}

/** Of the DaemonSet of the agents; `image` is what they will run. */
export function agentNeeds(daemonSet: KubeObject, image: string, around: Around): AgentNeeds {
  const pod = mapAt(daemonSet.spec, 'template', 'spec');
  const containers = [...recordsIn(pod.initContainers), ...recordsIn(pod.containers)];
  const mounts = distinct([...containers.flatMap((one) => mountsOf(one, pod)), ...addedMounts(around)]);
  const names = agentContainers(around.profile);
  const main = containers.findLast((one) => names.has(String(one.name))) ?? {};
  const dnsPolicy = textAt(pod, 'dnsPolicy');
  const host = literal(main, 'KUBERNETES_SERVICE_HOST') ?? around.apiHost;
  const isByNode = dnsPolicy === 'Default' || (pod.hostNetwork === true && (dnsPolicy === undefined || dnsPolicy === 'ClusterFirst'));
  const isName = host !== undefined && host !== '' && !isIPv4(host) && !isIPv6(host);
  return {
    image,
    mounts,
    isPrivileged: mounts.some(({ propagation }) => propagation === 'Bidirectional'),
    hostNetwork: pod.hostNetwork === true,
    ...(dnsPolicy === undefined ? {} : { dnsPolicy }),
    tolerations: Array.isArray(pod.tolerations) ? pod.tolerations : [],
    resources: mapAt(main.resources),
    ports: portsOf(main, around),
    ...(isByNode && isName ? { resolves: host } : {}),
  };
}

/** By name: a registry of one's own may call the image otherwise. */
const agentContainers = ({ operator, variants }: Profile): ReadonlySet<string> =>
  new Set([operator.agent, ...variants.map(({ agent }) => agent)].map(({ container }) => container));

function mountsOf(container: JsonMap, pod: JsonMap): readonly HostMount[] {
  return recordsIn(container.volumeMounts).flatMap(({ name, mountPath, mountPropagation }) => {
    const volume = recordsIn(pod.volumes).find((one) => one.name === name);
    const path = textAt(volume, 'hostPath', 'path')?.replace(/(?<=.)\/+$/, '');
    if (path === undefined || typeof mountPath !== 'string') return [];
    const propagation = typeof mountPropagation === 'string' ? { propagation: mountPropagation } : {};
    return [{ volume: String(name), path, type: textAt(volume, 'hostPath', 'type') ?? '', mountPath, ...propagation }];
  });
}

/** An operator renders the new template itself: what it adds to the old one is known by release. */
function addedMounts({ profile, release, isRunning }: Around): readonly HostMount[] {
  if (!isRunning) return [];
  const added = (profile.operator.agentMounts ?? []).filter(({ since }) => isSince(release, since));
  return added.map(({ path, type, propagation }, index) => ({
    ...{ volume: `added-${index + 1}`, path, type, mountPath: path },
    ...(propagation === undefined ? {} : { propagation }),
  }));
}

function isSince(release: string, since: readonly string[]): boolean {
  const [first] = [...since.filter((one) => sameMinor(one, release)), ...since.slice(-1)];
  return first !== undefined && !isOlder(release, first);
}

/** Of two mounts at one place the one that asks for more. */
function distinct(mounts: readonly HostMount[]): readonly HostMount[] {
  const byPlace = Map.groupBy(mounts, ({ mountPath }) => mountPath);
  return [...byPlace.values()].flatMap((all) => all.find(({ propagation }) => propagation === 'Bidirectional') ?? all.slice(0, 1));
}

/** What the target listens on and the running agent does not, by release, data plane and settings. */
function portsOf(main: JsonMap, { profile, release, source, isEbpf, live }: Around): readonly number[] {
  const known = (profile.agentPorts ?? []).filter((one) => !one.ebpf || isEbpf).filter(({ since }) => crosses(source, release, since));
  const before = new Set(recordsIn(jsonAt(live?.spec, 'template', 'spec', 'containers')).flatMap(setPorts));
  const set = setPorts(main).filter((port) => !before.has(port));
  return [...new Set([...known.map(({ port }) => port), ...(live ? set : [])])].toSorted((a, b) => a - b);
}

/** `FELIX_HEALTHPORT=9099`. */
function setPorts(container: JsonMap): readonly number[] {
  return recordsIn(container.env).flatMap(({ name, value }) =>
    /PORT$/.test(String(name)) && /^\d{2,5}$/.test(String(value)) ? [Number(value)] : [],
  );
}

function literal(container: JsonMap, name: string): string | undefined {
  return textAt(
    recordsIn(container.env).find((one) => one.name === name),
    'value',
  );
}
