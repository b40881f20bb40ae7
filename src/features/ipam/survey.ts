import type { Context } from '../../kernel/context.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { mapAt, textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { named, unattributed } from '../../kube/lean-objects.ts';
import { podAddresses } from '../../kube/pod-facts.ts';
import { specOf } from '../survey/index.ts';
import { type Allocation, leanBlock } from './blocks.ts';
import { type IpamFault, isLost, leftOver, looseTunnels, lostOwners, twiceClaimed } from './faults.ts';
import { type AddressedPod, blocksWithoutPool, type HalfMoved, halfReleased, unbookedPods } from './half-moved.ts';

/** The bookkeeping of addresses, as far as it is wrong. */
export interface IpamFacts {
  readonly blocks: number;
  readonly faults: readonly IpamFault[];
  /** Without the addresses of pods, where these were not read. */
  readonly moves: readonly HalfMoved[];
  /** When the youngest node was created, by the server’s clock; '' without nodes. */
  readonly youngestNode: string;
}

/** What of the bookkeeping was listed. */
export interface IpamLists {
  readonly blocks: readonly KubeObject[];
  readonly affinities: readonly KubeObject[];
}

type Reader = Pick<ClusterReader, 'discover' | 'list'>;

/** The service's own CNI plugin: what the operator assumes except where the provider has one. */
export function hasOwnCni(installation: KubeObject): boolean {
  const { cni, kubernetesProvider } = specOf(installation);
  const type = textAt(cni, 'type') || (['AKS', 'EKS', 'GKE'].includes(String(kubernetesProvider)) ? '' : 'Calico');
  return type === 'Calico';
}

/** True if pods get their addresses from the service: an operator's Installation says it, or the ConfigMap of the agents. */
export function givesAddresses(installation: KubeObject | undefined, agentConfig: KubeObject | undefined, { ipam }: Profile): boolean {
  if (!ipam) return false;
  if (!installation) return (textAt(agentConfig, 'data', 'cni_network_config') ?? '').includes(ipam.plugin);
  return hasOwnCni(installation) && (textAt(installation.spec, 'cni', 'ipam', 'type') ?? 'Calico') === 'Calico';
}

/** Nodes with their annotations, and the names of all pods, as they were seen about the same time. */
export interface Around {
  readonly nodes: readonly KubeObject[];
  /** `namespace/name`. */
  readonly pods: ReadonlySet<string>;
  /** Where they are read. */
  readonly addressed?: { readonly pods: readonly AddressedPod[]; readonly pools: readonly string[] };
}

/** Undefined where the API holds no such bookkeeping: nothing is asked then. */
export async function readIpam(
  cluster: Reader,
  context: Context,
  installation: Pick<Installation, 'datastore'>,
  around: () => Promise<Around>,
): Promise<IpamFacts | undefined> {
  const { ipam } = context.profile;
  if (!ipam || isKeyValue(installation)) return undefined;
  const { kinds } = await cluster.discover();
  const [blocks, affinities] = [ipam.blocks.plural, ipam.affinities.plural].map((plural) => servedKind(kinds, plural, context));
  if (!blocks || !affinities) return undefined;
  const [all, claims] = await Promise.all([cluster.list(blocks, { keep: leanBlock }), cluster.list(affinities, { keep: unattributed })]);
  return ipamFacts(cluster, context, { blocks: all, affinities: claims }, await around());
}

/** The same where neither nodes nor pods were listed. */
export function readIpamAlone(
  cluster: Reader,
  context: Context,
  installation: Pick<Installation, 'datastore'>,
): Promise<IpamFacts | undefined> {
  return readIpam(cluster, context, installation, () => readAround(cluster));
}

const servedKind = (kinds: readonly Kind[], plural: string, { profile }: Context) =>
  kinds.find((one) => one.group === profile.crdGroup && one.plural === plural);

async function ipamFacts(cluster: Reader, context: Context, { blocks, affinities }: IpamLists, around: Around): Promise<IpamFacts> {
  const { nodes, pods, addressed } = around;
  const lost = lostOwners(blocks, { pods, nodes: namesOf(nodes) });
  const ages = nodes.flatMap(({ metadata: { creationTimestamp } }) => creationTimestamp ?? []);
  const left = lost.length === 0 ? [] : await leftOvers(cluster, context, lost);
  const moved = addressed ? await halfMoved(cluster, context, blocks, addressed) : [];
  const { twice, halves } = await stillUnsettled(cluster, context, { blocks, affinities }, namesOf(nodes));
  return {
    blocks: blocks.length,
    faults: [...twice, ...looseTunnels(blocks, nodes, context.profile.apiGroup), ...left],
    moves: [...moved, ...halves],
    youngestNode: ages.toSorted().at(-1) ?? '',
  };
}

/**
 * Pods come and go while lists are read. So what seems to be gone is looked for again: whoever was created meanwhile is seen then. What was
 * deleted meanwhile had its address taken back before that, and the handle with it: handles are read last.
 */
async function leftOvers(cluster: Reader, context: Context, lost: readonly Allocation[]): Promise<readonly IpamFault[]> {
  const kind = servedKind((await cluster.discover()).kinds, context.profile.ipam?.handles.plural ?? '', context);
  const [pods, nodes] = await Promise.all([K.Pod, K.Node].map((one) => cluster.list(one, { metadataOnly: true, keep: nameOnly })));
  const present = { pods: namesOf(pods), nodes: namesOf(nodes) };
  const handles = kind ? await cluster.list(kind, { keep: leanHandle }) : [];
  const held = new Set(handles.map((one) => textAt(one.spec, 'handleID') ?? one.metadata.name));
  return lost.filter((one) => held.has(one.handle) && isLost(one, present)).map((one) => leftOver(one, present));
}

/** Pods and blocks were listed about the same time: what seems to have no entry is looked for again, in both. */
async function halfMoved(
  cluster: Reader,
  context: Context,
  blocks: readonly KubeObject[],
  { pods, pools }: NonNullable<Around['addressed']>,
): Promise<readonly HalfMoved[]> {
  const { ipam } = context.profile;
  const without = blocksWithoutPool(blocks, pools);
  const seen = new Set(unbookedPods(blocks, pods, pools).map(({ text }) => text));
  const kind = servedKind((await cluster.discover()).kinds, ipam?.blocks.plural ?? '', context);
  if (seen.size === 0 || !ipam || !kind) return without;
  const later = await cluster.list(kind, { keep: leanBlock });
  const left = await cluster.list(K.Pod, { keep: addressedPod });
  const booked = left.filter(({ metadata }) => metadata.annotations?.[ipam.ownAddresses] === undefined);
  return [...unbookedPods(later, addressedPods(booked), pools).filter(({ text }) => seen.has(text)), ...without];
}

/** What two lists of different moments show of claims and releases. */
interface Unsettled {
  readonly twice: readonly IpamFault[];
  readonly halves: readonly HalfMoved[];
}

/** Claims and releases take moments, and nodes come: what seems to be left of one is looked for again. */
async function stillUnsettled(
  cluster: Reader,
  context: Context,
  { blocks, affinities }: IpamLists,
  nodes: ReadonlySet<string>,
): Promise<Unsettled> {
  const seen = new Set([...twiceClaimed(affinities, blocks), ...halfReleased(blocks, affinities, nodes)].map(detailOf));
  const { ipam } = context.profile;
  if (seen.size === 0 || !ipam) return { twice: [], halves: [] };
  const { kinds } = await cluster.discover();
  const again = async (plural: string) => {
    const kind = servedKind(kinds, plural, context);
    return kind ? cluster.list(kind, { keep: plural === ipam.blocks.plural ? leanBlock : unattributed }) : [];
  };
  const [later, claims] = await Promise.all([again(ipam.blocks.plural), again(ipam.affinities.plural)]);
  const present = await cluster.list(K.Node, { metadataOnly: true, keep: nameOnly });
  const isStill = (one: IpamFault | HalfMoved) => seen.has(detailOf(one));
  return { twice: twiceClaimed(claims, later).filter(isStill), halves: halfReleased(later, claims, namesOf(present)).filter(isStill) };
}

const detailOf = ({ text, detail }: IpamFault | HalfMoved): string => `${text} ${detail}`;

function addressedPod(pod: KubeObject): KubeObject {
  const { podIP, podIPs, phase } = mapAt(pod.status);
  const { hostNetwork } = mapAt(pod.spec);
  return { ...named(pod, 'annotations', 'deletionTimestamp'), spec: { hostNetwork }, status: { podIP, podIPs, phase } };
}

function addressedPods(pods: readonly KubeObject[]): readonly AddressedPod[] {
  return pods.flatMap((pod) => {
    const addresses = podAddresses(pod);
    const { namespace = '', name } = pod.metadata;
    return addresses.length === 0 ? [] : [{ pod: `${namespace}/${name}`, addresses }];
  });
}

/** What a stage that has listed neither reads of pods and nodes. */
async function readAround(cluster: Pick<Reader, 'list'>): Promise<Around> {
  const [nodes, pods] = await Promise.all([
    cluster.list(K.Node, { metadataOnly: true, keep: notedNode }),
    cluster.list(K.Pod, { metadataOnly: true, keep: nameOnly }),
  ]);
  return { nodes, pods: namesOf(pods) };
}

const namesOf = (objects: readonly KubeObject[] = []): ReadonlySet<string> =>
  new Set(objects.map(({ metadata: { namespace, name } }) => (namespace === undefined ? name : `${namespace}/${name}`)));

const nameOnly = (object: KubeObject): KubeObject => named(object);

/** What of a node the bookkeeping is compared with. For `ListOptions.keep`. */
export const notedNode = (node: KubeObject): KubeObject => named(node, 'annotations', 'creationTimestamp');

const leanHandle = (handle: KubeObject): KubeObject => ({ ...named(handle), spec: { handleID: textAt(handle.spec, 'handleID') } });
