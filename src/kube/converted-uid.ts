const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Bytes that the conversion does not change: version and variant of the UUID. */
const LEFT_ALONE = new Set([6, 8]);
const REVERSED = Array.from({ length: 256 }, (_, byte) => reversed(byte));

function reversed(byte: number): number {
  let result = 0;
  for (let bit = 0; bit < 8; bit += 1) result |= ((byte >> bit) & 1) << (7 - bit);
  return result;
}

/**
 * The UID under which the v3 API serves an object stored with this one, and the reverse: bits of each byte reversed, except the version and
 * variant bytes. Undefined if the text is no UUID.
 */
export function convertUid(uid: string): string | undefined {
  if (!UUID.test(uid)) return undefined;
  let place = 0;
  return uid.toLowerCase().replace(/[0-9a-f]{2}/g, (pair) => {
    const byte = Number.parseInt(pair, 16);
    const converted = LEFT_ALONE.has(place) ? byte : (REVERSED[byte] ?? 0);
    place += 1;
    return converted.toString(16).padStart(2, '0');
  });
}
