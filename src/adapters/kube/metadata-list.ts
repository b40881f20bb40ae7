import type { ObjectMeta, OwnerReference } from '../../kernel/object.ts';
import { LAST_APPLIED } from '../../kube/managed-fields.ts';

/** What a page says before its objects. */
export interface ListHead {
  /** Where the list continues; empty at its end. */
  readonly token: string;
  /** State of the cluster that it shows. */
  readonly resourceVersion: string;
  /** Objects of the list behind this page, where the server says how many. */
  readonly remaining: number;
  /** Size of this page. */
  readonly bytes: number;
}

/** One page of metadata: what is asked for of it. */
export interface MetadataPage extends ListHead {
  readonly items: readonly ObjectMeta[];
  /** Objects in the page, kept or not. */
  readonly read: number;
}

/** Bytes of one item of a list: what a store of a cluster takes is a twentieth of it. */
const LARGEST_ITEM = 32 * 1024 * 1024;

/** What every protobuf body of the API begins with. */
const MAGIC = Buffer.from('k8s\0');

/**
 * Reads a PartialObjectMetadataList in protobuf as it arrives; keeps only metadata that holds one of the texts. Memory: the largest item
 * and what is kept; throws RangeError for anything else. `begun` is called as soon as the page's head has arrived.
 */
export class MetadataReader {
  readonly #texts: readonly Buffer[];
  readonly #begun: ((head: ListHead) => void) | undefined;
  readonly #items: ObjectMeta[] = [];
  #pending: Buffer = Buffer.alloc(0);
  #read = 0;
  #head: ListHead = { token: '', resourceVersion: '', remaining: 0, bytes: 0 };
  /** Bytes of the list that are still to come; undefined before its head, NaN after it. */
  #left: number | undefined;

  constructor(texts: readonly string[], begun?: (head: ListHead) => void) {
    this.#texts = texts.map((text) => Buffer.from(text));
    this.#begun = begun;
  }

  take(chunk: Uint8Array): void {
    const isFirst = this.#pending.length === 0;
    const bytes = isFirst ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.concat([this.#pending, chunk]);
    this.#pending = bytes.subarray(this.#takeParts(bytes));
  }

  page(): MetadataPage {
    if (this.#left !== 0) throw new RangeError('the list of metadata was cut short');
    return { ...this.#head, items: this.#items, read: this.#read };
  }

  /** Takes whole parts of the list off the front of what has arrived. Returns the number of bytes that are done with. */
  #takeParts(bytes: Buffer): number {
    let at = 0;
    if (this.#left === undefined) at = this.#takeHead(bytes);
    if (this.#left === undefined) return 0;
    const hits = this.#texts.map((text) => ({ text, at: -2 }));
    while (this.#left > 0) {
      const field = fieldAt(bytes, at);
      if (!field || field.end > bytes.length) {
        refuseHuge(field ? field.end - at : bytes.length - at);
        break;
      }
      if (field.number === 1) {
        this.#head = headIn(bytes, field, this.#head.bytes);
        this.#begun?.(this.#head);
      }
      if (field.number === 2) {
        this.#read += 1;
        if (hits.some((hit) => isWithin(hit, bytes, field))) this.#items.push(metadataOf(bytes, field));
      }
      this.#left -= field.end - at;
      at = field.end;
    }
    return this.#left > 0 ? at : bytes.length;
  }

  /** The envelope: magic, type (field 1), then the list (field 2). */
  #takeHead(bytes: Buffer): number {
    if (bytes.length < MAGIC.length) return 0;
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new RangeError('the answer is no protobuf of a Kubernetes API');
    for (let at = MAGIC.length; ; ) {
      const field = fieldAt(bytes, at);
      if (!field || (field.number !== 2 && field.end > bytes.length)) {
        refuseHuge(field ? field.end - at : bytes.length - at);
        return 0;
      }
      if (field.number === 2) {
        this.#left = field.end - field.start;
        this.#head = { ...this.#head, bytes: this.#left };
        return field.start;
      }
      at = field.end;
    }
  }
}

/** A claimed length would all be kept in memory until it has arrived. */
function refuseHuge(bytes: number): void {
  if (bytes > LARGEST_ITEM) throw new RangeError(`the list of metadata has an item of ${bytes} bytes`);
}

/** Continues only from the last place found: each byte is searched once per text. */
function isWithin(hit: { readonly text: Buffer; at: number }, bytes: Buffer, { start, end }: Field): boolean {
  if (hit.at !== -1 && hit.at < start) hit.at = bytes.indexOf(hit.text, start);
  return hit.at >= start && hit.at < end;
}

/** ListMeta { 2 resourceVersion, 3 continue, 4 remainingItemCount } */
function headIn(list: Buffer, field: Field, bytes: number): ListHead {
  const fields = new Map([...fieldsOf(list, field)].map((one) => [one.number, one]));
  const textAt = (number: number) => textOf(list, fields.get(number) ?? { start: 0, end: 0 });
  return { token: textAt(3), resourceVersion: textAt(2), remaining: fields.get(4)?.value ?? 0, bytes };
}

/** Item { 1 ObjectMeta { 1 name, 3 namespace, 5 uid, 6 resourceVersion, 12 annotations, 13 ownerReferences } }; the rest is skipped. */
function metadataOf(bytes: Buffer, item: Field): ObjectMeta {
  const texts: Record<string, string> = {};
  const ownerReferences: OwnerReference[] = [];
  let annotations: Record<string, string> | undefined;
  for (const outer of fieldsOf(bytes, item)) {
    if (outer.number !== 1) continue;
    for (const field of fieldsOf(bytes, outer)) {
      const name = METADATA_TEXTS[field.number];
      if (name && field.end > field.start) texts[name] = textOf(bytes, field);
      if (field.number === 12) annotations ??= appliedOf(bytes, field);
      if (field.number === 13) ownerReferences.push(ownerOf(bytes, field));
    }
  }
  return { name: '', ...texts, ...(annotations ? { annotations } : {}), ownerReferences };
}

/** Map entry { 1 key, 2 value }; undefined for every other annotation, and for a manifest that names no owners. */
function appliedOf(bytes: Buffer, annotation: Field): Record<string, string> | undefined {
  const entry = Object.fromEntries([...fieldsOf(bytes, annotation)].map((field) => [field.number, field]));
  const [key, value] = [entry[1], entry[2]];
  if (!key || !value || key.end - key.start !== LAST_APPLIED.length || textOf(bytes, key) !== LAST_APPLIED) return undefined;
  const text = textOf(bytes, value);
  return text.includes('"ownerReferences"') ? { [LAST_APPLIED]: text } : undefined;
}

const METADATA_TEXTS: Readonly<Record<number, string>> = { 1: 'name', 3: 'namespace', 5: 'uid', 6: 'resourceVersion' };
const OWNER_TEXTS: Readonly<Record<number, 'kind' | 'name' | 'uid' | 'apiVersion'>> = { 1: 'kind', 3: 'name', 4: 'uid', 5: 'apiVersion' };
const OWNER_FLAGS: Readonly<Record<number, 'controller' | 'blockOwnerDeletion'>> = { 6: 'controller', 7: 'blockOwnerDeletion' };

function ownerOf(bytes: Buffer, reference: Field): OwnerReference {
  const texts = { apiVersion: '', kind: '', name: '', uid: '' };
  const flags: { controller?: boolean; blockOwnerDeletion?: boolean } = {};
  for (const field of fieldsOf(bytes, reference)) {
    const text = OWNER_TEXTS[field.number];
    if (text) texts[text] = textOf(bytes, field);
    const flag = OWNER_FLAGS[field.number];
    if (flag) flags[flag] = field.value !== 0;
  }
  return { ...texts, ...flags };
}

function textOf(bytes: Buffer, { start, end }: { readonly start: number; readonly end: number }): string {
  return bytes.toString('utf8', start, end);
}

/** A field of a protobuf message: where its payload lies. Scalars have their value, and no payload. */
interface Field {
  readonly number: number;
  readonly value: number;
  readonly start: number;
  readonly end: number;
}

const LENGTH = 2;
/** Most bytes that the format has for a number of 64 bits. */
const VARINT_BYTES = 10;

/** Reads an unsigned varint of up to 53 bits; `next` is -1 if the bytes end within it. */
function varintAt(bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } {
  let value = 0;
  let scale = 1;
  for (let index = at; index < bytes.length; index += 1) {
    if (index - at >= VARINT_BYTES)
      throw new RangeError(`the protobuf message has a number of more than ${VARINT_BYTES} bytes at byte ${at}`);
    const byte = bytes[index] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, next: index + 1 };
    scale *= 128;
  }
  return { value, next: -1 };
}

/** The fields of a message, in order. Throws RangeError for bytes that are no message. */
function* fieldsOf(bytes: Uint8Array, { start, end }: Field): Generator<Field> {
  for (let at = start; at < end; ) {
    const field = fieldAt(bytes, at);
    if (!field || field.end > end) throw new RangeError(`the protobuf message ends within a field at byte ${at}`);
    yield field;
    at = field.end;
  }
}

/** The field that begins at a byte; undefined if the bytes end before its payload begins. Its payload may reach beyond them. */
function fieldAt(bytes: Uint8Array, at: number): Field | undefined {
  const tag = varintAt(bytes, at);
  if (tag.next < 0) return undefined;
  const number = Math.floor(tag.value / 8);
  const type = tag.value % 8;
  if (type === 5 || type === 1) return { number, value: 0, start: tag.next, end: tag.next + (type === 5 ? 4 : 8) };
  const { value, next } = varintAt(bytes, tag.next);
  if (next < 0) return undefined;
  if (type === 0) return { number, value, start: next, end: next };
  if (type !== LENGTH) throw new RangeError(`the protobuf message has a field of unknown type ${type} at byte ${at}`);
  return { number, value: 0, start: next, end: next + value };
}
