import type { Evidence } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { canonicalAddress, canonicalNetwork } from '../../kernel/ip-text.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { allocationsOf } from './blocks.ts';

/** A pod with an address of its own, as the kubelet reports it. */
export interface AddressedPod {
  /** `namespace/name`. */
  readonly pod: string;
  readonly addresses: readonly string[];
}

/** What a move of addresses that nobody ended leaves behind: from another plugin, or from one pool to another. */
export interface HalfMoved extends Required<Pick<Evidence, 'text' | 'detail'>>, Pick<Evidence, 'object'> {
  readonly kind: 'unbooked' | 'without-pool' | 'half-released';
}

/** Pods whose address lies in a pool, and in no block is it given: the next pod may get it as well. */
export function unbookedPods(blocks: readonly KubeObject[], pods: readonly AddressedPod[], pools: readonly string[]): readonly HalfMoved[] {
  const given = new Set(blocks.flatMap((block) => allocationsOf(block).map(({ address }) => address)));
  return pods.flatMap(({ pod, addresses }) =>
    addresses
      .map((one) => canonicalAddress(one) ?? one)
      .filter((address) => !given.has(address) && pools.some((cidr) => isIn(address, cidr)))
      .map((address) => ({ kind: 'unbooked' as const, text: `Pod/${pod}`, detail: `${address} is given in no block` })),
  );
}

/** Blocks with addresses of pods in no pool: what agents do for the addresses of a pool, they do not do for these. */
export function blocksWithoutPool(blocks: readonly KubeObject[], pools: readonly string[]): readonly HalfMoved[] {
  return blocks.flatMap((block) => {
    const cidr = textAt(block.spec, 'cidr') ?? '';
    const used = allocationsOf(block).filter(({ pod }) => pod !== undefined).length;
    if (used === 0 || pools.some((pool) => isIn(cidr, pool))) return [];
    const object = refOf(block);
    return [
      {
        kind: 'without-pool' as const,
        text: refText(object),
        object,
        detail: `${cidr} has ${counted(used, 'address of a pod', 'addresses of pods')} and lies in no pool`,
      },
    ];
  });
}

/** Of an affinity that is no node's the type; it is for addresses of services. */
const VIRTUAL = 'virtual';
const UNDER_WAY: ReadonlyMap<string, string> = new Map([
  ['pending', 'its node asked for it, and never confirmed it'],
  ['pendingDeletion', 'its release was begun and never ended'],
]);

/** Affinities and blocks that are being claimed or given up: an agent or a controller that ended in between leaves them so. */
export function halfReleased(
  blocks: readonly KubeObject[],
  affinities: readonly KubeObject[],
  nodes: ReadonlySet<string>,
): readonly HalfMoved[] {
  const used = new Set(blocks.filter((one) => allocationsOf(one).length > 0).map(({ spec }) => textAt(spec, 'cidr')));
  const whyOf = ({ spec }: KubeObject): string | undefined => {
    const [cidr = '', node = '', state = ''] = ['cidr', 'node', 'state'].map((field) => textAt(spec, field));
    if (textAt(spec, 'type') === VIRTUAL) return undefined;
    if (textAt(spec, 'deleted') === 'true') return 'is marked as deleted, and is still there';
    const isThere = node === '' || nodes.has(node);
    return UNDER_WAY.get(state) ?? (isThere || used.has(cidr) ? undefined : `node ${node} is gone`);
  };
  const deleted = blocks.filter(({ spec }) => jsonAt(spec, 'deleted') === true);
  return [
    ...affinities.flatMap((one) => faultOf(one, whyOf(one))),
    ...deleted.flatMap((one) => faultOf(one, 'is marked as deleted, and is still there')),
  ];
}

function faultOf(object: KubeObject, why: string | undefined): readonly HalfMoved[] {
  const ref = refOf(object);
  return why === undefined
    ? []
    : [{ kind: 'half-released', text: refText(ref), object: ref, detail: `${textAt(object.spec, 'cidr')}: ${why}` }];
}

/** Of an address or a network: its own network of the other's size is the same. */
function isIn(inner: string, outer: string): boolean {
  const [address = '', bits] = inner.split('/');
  const [network, size] = [canonicalNetwork(outer), outer.split('/')[1]];
  if (network === undefined || size === undefined || (bits !== undefined && Number(bits) < Number(size))) return false;
  return canonicalNetwork(`${address}/${size}`) === network;
}
