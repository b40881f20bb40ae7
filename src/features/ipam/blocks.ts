import { canonicalAddress } from '../../kernel/ip-text.ts';
import { jsonAt, mapAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { named } from '../../kube/lean-objects.ts';

/** An address that the service has given to something (`AllocationBlock` of the service). */
export interface Allocation {
  readonly address: string;
  /** Names the object that holds the same allocation from its other side. */
  readonly handle: string;
  /** Node that asked for it; '' where it does not say. */
  readonly node: string;
  /** `namespace/name`; undefined for what is no pod's. */
  readonly pod?: string;
  /** Of a virtual machine: its pod is another one after each migration, and the address stays. */
  readonly isOfMachine: boolean;
}

const ATTRIBUTES = ['node', 'namespace', 'pod', 'vmi-name'];

/** What is read of a block, a fifth of it. For `ListOptions.keep`. */
export function leanBlock(block: KubeObject): KubeObject {
  const { cidr, affinity, deleted, allocations, attributes } = mapAt(block.spec);
  const lean = (Array.isArray(attributes) ? attributes : []).map((one) => ({
    handle_id: jsonAt(one, 'handle_id'),
    secondary: Object.fromEntries(ATTRIBUTES.map((name) => [name, textAt(one, 'secondary', name)])),
  }));
  return { ...named(block), spec: { cidr, affinity, ...(deleted === true ? { deleted } : {}), allocations, attributes: lean } };
}

/** Every address of a block that is given; none of a block that cannot be read. */
export function allocationsOf({ spec }: KubeObject): readonly Allocation[] {
  const [given, attributes] = [jsonAt(spec, 'allocations'), jsonAt(spec, 'attributes')];
  const base = baseOf(textAt(spec, 'cidr') ?? '');
  if (!Array.isArray(given) || !Array.isArray(attributes) || base === undefined) return [];
  return given.flatMap((index: unknown, ordinal) => {
    const attribute: unknown = typeof index === 'number' ? attributes[index] : undefined;
    if (attribute === undefined) return [];
    const of = (name: string) => textAt(attribute, 'secondary', name) ?? '';
    const pod = of('pod') === '' ? {} : { pod: `${of('namespace')}/${of('pod')}` };
    const handle = textAt(attribute, 'handle_id') ?? '';
    return [{ address: addressAt(base, ordinal), handle, node: of('node'), isOfMachine: of('vmi-name') !== '', ...pod }];
  });
}

type Base = readonly [first: bigint, bits: 32 | 128];

/** The first address of a block as a number. */
function baseOf(cidr: string): Base | undefined {
  const address = canonicalAddress(cidr.split('/')[0] ?? '');
  if (address === undefined) return undefined;
  const joined = (parts: readonly number[], bits: number) => parts.reduce((sum, part) => (sum << BigInt(bits)) | BigInt(part), 0n);
  if (!address.includes(':')) return [joined(address.split('.').map(Number), 8), 32];
  const [head = [], tail = []] = address
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((one) => Number.parseInt(one, 16))));
  const zeros = Array<number>(8 - head.length - tail.length).fill(0);
  return [joined([...head, ...zeros, ...tail], 16), 128];
}

function addressAt([first, bits]: Base, ordinal: number): string {
  const [width, count] = bits === 32 ? [8, 4] : [16, 8];
  const value = first + BigInt(ordinal);
  const parts = Array.from({ length: count }, (_, index) =>
    Number((value >> BigInt(width * (count - 1 - index))) & ((1n << BigInt(width)) - 1n)),
  );
  const text = bits === 32 ? parts.join('.') : parts.map((part) => part.toString(16)).join(':');
  return canonicalAddress(text) ?? text;
}
