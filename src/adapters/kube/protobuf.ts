/** A field of a protobuf message: where its payload lies. Scalars have their value, and no payload. */
export interface Field {
  readonly number: number;
  readonly value: number;
  readonly start: number;
  readonly end: number;
}

const LENGTH = 2;
/** Most bytes that the format has for a number of 64 bits. */
const VARINT_BYTES = 10;

/** Reads an unsigned varint of up to 53 bits; `next` is -1 if the bytes end within it. */
export function varintAt(bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } {
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
export function* fieldsOf(bytes: Uint8Array, start: number, end: number): Generator<Field> {
  for (let at = start; at < end; ) {
    const field = fieldAt(bytes, at);
    if (!field || field.end > end) throw new RangeError(`the protobuf message ends within a field at byte ${at}`);
    yield field;
    at = field.end;
  }
}

/** The field that begins at a byte; undefined if the bytes end before its payload begins. Its payload may reach beyond them. */
export function fieldAt(bytes: Uint8Array, at: number): Field | undefined {
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
