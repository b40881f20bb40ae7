import type { ObjectMeta, OwnerReference } from '../../../src/kernel/object.ts';

/** An item of a metadata list, with room for what a server sends besides. */
export interface ListItem {
  readonly metadata: ObjectMeta;
  /** Bytes of other fields: labels, managed fields. */
  readonly noise?: Uint8Array;
}

/** A PartialObjectMetadataList in protobuf, as an API server sends it. `remaining`: objects behind this page. */
export function metadataList(items: readonly ListItem[], token = '', remaining = 0): Buffer {
  const count: Part = remaining === 0 ? [] : [varint(4 * 8), varint(remaining)];
  const list = [
    message(1, [text(2, '4711'), token === '' ? [] : text(3, token), count]),
    ...items.map((item) => message(2, [itemOf(item)])),
  ];
  const typeMeta = message(1, [text(1, 'meta.k8s.io/v1'), text(2, 'PartialObjectMetadataList')]);
  return Buffer.concat([Buffer.from('k8s\0'), bytes([typeMeta, message(2, list), text(3, ''), text(4, '')])]);
}

function itemOf({ metadata, noise }: ListItem): Part {
  const { name, namespace, uid, resourceVersion, ownerReferences = [] } = metadata;
  return message(1, [
    text(1, name),
    text(2, ''),
    namespace ? text(3, namespace) : [],
    uid ? text(5, uid) : [],
    resourceVersion ? text(6, resourceVersion) : [],
    [varint(7 * 8), varint(3)],
    message(8, [[varint(8), varint(1_763_712_000)]]),
    ...(noise ? [message(11, [noise])] : []),
    ...ownerReferences.map((owner) => message(13, ownerOf(owner))),
    ...(noise ? [message(17, [noise])] : []),
  ]);
}

function ownerOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): readonly Part[] {
  const flag = (number: number, value: boolean | undefined): Part =>
    value === undefined ? [] : [varint(number * 8), varint(value ? 1 : 0)];
  return [text(1, kind), text(3, name), text(4, uid), text(5, apiVersion), flag(6, controller), flag(7, blockOwnerDeletion)];
}

type Part = Uint8Array | readonly Part[];

function bytes(parts: readonly Part[]): Buffer {
  return Buffer.concat(parts.map((part) => (part instanceof Uint8Array ? part : bytes(part))));
}

function message(number: number, parts: readonly Part[]): Part {
  const body = bytes(parts);
  return [varint(number * 8 + 2), varint(body.length), body];
}

function text(number: number, value: string): Part {
  return message(number, [Buffer.from(value)]);
}

function varint(value: number): Uint8Array {
  const found: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.from([...found, rest]);
    found.push((rest % 128) + 128);
  }
}
