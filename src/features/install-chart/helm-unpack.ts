/** Bytes of a stored release after unpacking; a cluster object holds 1 MiB packed. */
const LIMIT_BYTES = 64 * 1024 * 1024;
/** Nobody packs deeper: the Secret's own layer, the chart tool's, and none besides. */
const LAYERS = 2;

/**
 * The JSON text of a stored chart release (domain §2.2): base64 by the API (Secrets only), base64 by the chart tool, gzip; or stored plain.
 * Rejects with the reason if it is none of these or larger than 64 MiB.
 */
export async function unpackRelease(stored: string): Promise<string> {
  let bytes = new TextEncoder().encode(stored.trim());
  for (let layer = 0; layer < LAYERS && !isGzip(bytes) && !isJson(bytes); layer += 1) bytes = decodeBase64(bytes);
  if (isGzip(bytes)) bytes = await gunzip(bytes);
  if (!isJson(bytes)) throw new Error('it is not a packed chart release');
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isJson(bytes: Uint8Array): boolean {
  return bytes[0] === 0x7b;
}

function decodeBase64(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(new TextDecoder().decode(bytes)), (character) => character.charCodeAt(0));
  } catch {
    throw new Error('it is not base64');
  }
}

/** By the language's own streams: no import, in Node as in a browser. */
async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))) {
    size += chunk.byteLength;
    if (size > LIMIT_BYTES) throw new Error('unpacked it is larger than 64 MiB');
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks.map((chunk) => Uint8Array.from(chunk))).arrayBuffer());
}
