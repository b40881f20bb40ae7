import { command } from '../../kernel/command.ts';
import { mask } from '../../kernel/hidden.ts';
import { type Said, text } from '../../kernel/step.ts';
import { oneLine } from '../../kernel/visible.ts';
import type { EventFields } from '../../kube/pod-facts.ts';
import { itemsIn } from './list-pages.ts';

/** What a known message of a pod, its log or its events means. In order: the first that fits is told. Each was met in a real upgrade (docs/use/known-incidents.md). */
const MEANINGS: readonly { readonly says: RegExp; readonly means: Said }[] = [
  { says: /is forbidden: User "/, means: 'the account of the pod lacks a right: its ClusterRole is not that of the target release' },
  {
    says: /sandbox.*connection is unauthorized: Unauthorized/,
    means: 'the API server refuses the token of the CNI plugin on this node: restart the agent there, it writes a new calico-kubeconfig',
  },
  {
    says: /sandbox.*error getting ClusterInformation.*x509:/,
    means:
      'the CNI plugin on this node does not trust the API server: compare the authority in its calico-kubeconfig with ConfigMap kube-root-ca.crt',
  },
  {
    says: /sandbox.*(?:could not initialize etcdv3 client|netplugin failed with no error message)/,
    means:
      'the CNI plugin on this node does not reach the store: see /var/log/calico/cni/cni.log there, and the etcd files that its configuration names',
  },
  {
    says: /\/sys\/kernel\/security\b.*(?:not permitted|no such file|read-only)/i,
    means:
      'the kernel of this node has no securityfs, which agents of v3.31.7 and v3.32.2 mount: use --release v3.32.1, or drop volume sys-kernel-security in a copy of the manifest',
  },
  {
    says: /watching CSR until it has been signed|timeout expired, exiting program with exit code 1/,
    means: text`the pod waits until its certificate request is approved and signed, as certificateManagement of the Installation wants it: see the signer, and ${command`kubectl get csr`}`,
  },
  {
    says: /is not a shared mount/,
    means:
      'the new agents need a /sys that is shared on the node: mount --make-shared /sys there, and have a unit do it at each start of the node',
  },
  {
    says: /is not a shared or slave mount/,
    means:
      'that folder lies on a private mount of the node: mount --make-rshared the mount that the message names, and have a unit do it at each start of the node',
  },
  {
    says: /datastore is not ready or has not been initiali|currently not ready to process requests/,
    means:
      'the datastore is locked: datastoreReady of ClusterInformation/default is false. Whoever began a migration of the datastore ends it, or unlocks it',
  },
  {
    says: /(?:\bpull(?:ing)?\b|https?:\/\/[^\s/]+\/v2\/).*dial (?:tcp|udp): lookup /i,
    means: 'the node does not resolve the name of the registry: see the DNS of the node itself, not that of the cluster',
  },
  {
    says: /dial (?:tcp|udp): lookup \S+(?: on \S+)?: /,
    means:
      'that name is not resolved. If it is that of the API server: the DNS of the cluster needs the agents, so put an address into ConfigMap kubernetes-services-endpoint, or give the agents dnsPolicy: Default',
  },
  {
    says: /bind: address already in use/,
    means:
      'another program listens on that port of the node. Port 10256 is that of kube-proxy: with eBPF remove kube-proxy, or set bpfKubeProxyHealthzPort of the FelixConfiguration',
  },
  {
    says: /CPU does not support x86-64-v\d/,
    means: 'the programs of this image need a newer processor than this node has: give the machine a newer processor model',
  },
  {
    says: /wait for .*caches? to sync|waiting for cache to be synced/i,
    means:
      'the operator cannot list or watch a kind that it needs: a CRD of the target or a right of its ClusterRole is missing, or the API server answers too slowly',
  },
  {
    says: /toomanyrequests|rate limit/i,
    means: 'the registry gives this node no more images for now: pull through a mirror, or with an account',
  },
  {
    says: /manifest unknown|manifest for .* not found|no such image/i,
    means: 'the registry has no image of this name and tag: copy it there, or correct the name',
  },
  {
    // Registries hide what an account may not see: they say the same then.
    says: /repository does not exist|: not found/i,
    means:
      'the registry has no image of this name and tag, or the node may not see it (pull secret, mirror): copy it there, correct the name, or give the node access',
  },
  { says: /unauthorized|authentication required|pull access denied/i, means: 'the node needs a pull secret for this registry' },
  { says: /x509:|certificate (?:has expired|signed by unknown)/i, means: 'a certificate is not trusted, or has expired' },
  { says: /GLIBC(?:XX)?_\d/, means: 'a program of this image needs a newer C library than it finds' },
  {
    says: /nft\b.*(?:segfault|segmentation|signal 11)|(?:segfault|segmentation).*\bnft\b/i,
    means: 'nft of this image crashes on this node’s system',
  },
  {
    says: /no matches for kind "/,
    means: text`the server lacks a definition that this release needs: install its CRDs with ${command`kubectl netsvc-upgrade crds`}`,
  },
  {
    says: /exec format error/,
    means:
      'the image is for another processor, or a layer of it is broken on this node: remove the image there, so that it is pulled again',
  },
  {
    says: /last exit (?:132|139)|^panic: |SIGSEGV|SIGILL/,
    means:
      'a program of this image crashed: it does not fit the processor or the kernel of this node, or has a defect that another release fixes',
  },
  {
    says: /(?:permission denied|read-only file system)/i,
    means: 'a program may not read or write a file: compare securityContext and volumes of the pod with those of the release',
  },
  {
    says: /dial tcp \S+: (?:i\/o timeout|connect: (?:connection refused|no route to host))/,
    means:
      'the pod does not reach that address: if it is that of the Service kubernetes, see kube-proxy on its node and host endpoint policies',
  },
  {
    says: /Typha.*(?:refus|older|incompatible)|incompatible.*Typha/i,
    means: 'Typha refuses agents that are older than itself: these get no policies until they are replaced',
  },
  { says: /BIRD is not ready|bird\.ctl|birdv4?\.ctl/i, means: 'the BGP daemon of the agent does not run, or has no session yet' },
  {
    says: /felix is not ready|readiness probe reporting 503|probe reporting 503/i,
    means:
      'the agent has not set up its rules yet, or cannot: its log shows what it waits for. If it ends at its start, delete the pod: agents before v3.31.7 and v3.32.2 may lock up there',
  },
];

/** Characters that are searched at each end of a text: tenants write events of any length, and a pattern of two parts tries all pairs. */
const SEARCHED = 2048;

/** Undefined where nobody has met it. */
export function meaningOf(texts: readonly string[]): Said | undefined {
  const ends = texts.map((text) => (text.length > 2 * SEARCHED ? `${text.slice(0, SEARCHED)}…${text.slice(-SEARCHED)}` : text));
  return MEANINGS.find(({ says }) => ends.some((text) => says.test(text)))?.means;
}

/** When the new agent of a node was made, and since when it is ready, by the kubelet's clock. */
export interface AgentPod {
  readonly createdAt: number;
  readonly readyAt: number;
}

/** Pods that were refused while the agent was replaced are tried again within this time. */
const SETTLED_MS = 20_000;
/** Of a longer text its beginning and, as the cause stands last, more of its end. */
const HEAD = 70;
const TAIL = 129;

/** The event is of a node whose agent had been ready for a while. */
export function isSettled(agents: ReadonlyMap<string, AgentPod>, event: EventFields): boolean {
  const readyAt = agents.get(event.source?.host ?? '')?.readyAt;
  return readyAt !== undefined && timeOf(event) - readyAt >= SETTLED_MS;
}

/**
 * Events newest first, one for each pod and a limited number of a namespace. Whoever writes an event chooses the times in it, but not when
 * the server has stored it.
 */
export function newestOfEach(events: readonly EventFields[], ofNamespace: number): readonly EventFields[] {
  const newest = events.toSorted((a, b) => storedAt(b) - storedAt(a));
  const byNamespace = new Map<string, Map<string, EventFields>>();
  for (const event of newest) {
    const { namespace = '', name = '' } = event.involvedObject ?? {};
    const byPod = byNamespace.get(namespace) ?? new Map<string, EventFields>();
    if (!byPod.has(name) && byPod.size < ofNamespace) byPod.set(name, event);
    byNamespace.set(namespace, byPod);
  }
  return [...byNamespace.values()].flatMap((byPod) => [...byPod.values()]);
}

/** The newest warning of a list, one for these reasons before any other. */
export function lastWarning(text: string, telling: ReadonlySet<unknown>): EventFields | undefined {
  const warnings = (itemsIn(text) as readonly EventFields[]).filter(
    ({ type, message }) => type === 'Warning' && typeof message === 'string',
  );
  const newestFirst = warnings.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  return newestFirst.find(({ reason }) => telling.has(reason)) ?? newestFirst[0];
}

function timeOf({ lastTimestamp, eventTime }: EventFields): number {
  return Date.parse(lastTimestamp ?? eventTime ?? '') || 0;
}

function storedAt({ metadata }: EventFields): number {
  return Date.parse(metadata?.creationTimestamp ?? '') || 0;
}

/** A text of the cluster as one short line, without credentials. */
export function shortText(text: unknown): string {
  const line = oneLine(mask(String(text ?? ''))).trim();
  return line.length > HEAD + TAIL + 1 ? `${line.slice(0, HEAD)}…${line.slice(-TAIL)}` : line;
}
