/** Node's compression, loaded when needed: it costs the shortest commands, which need none, as much as a request. */
export async function gzip(bytes: Uint8Array): Promise<Buffer> {
  return pass((await import('node:zlib')).gzip, bytes);
}

export class TooLarge extends Error {}

/** Rejects if it is no gzip data, truncated, or larger than this many bytes unpacked: a few kilobytes can hold gigabytes. */
export async function gunzip(bytes: Uint8Array, maxOutputLength: number): Promise<Buffer> {
  const { gunzip: unpack } = await import('node:zlib');
  return pass((packed, done) => unpack(packed, { maxOutputLength }, done), bytes).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'ERR_BUFFER_TOO_LARGE') throw thrown;
    throw new TooLarge(`unpacked it is larger than ${Math.round(maxOutputLength / 1024 / 1024)} MiB`, { cause: thrown });
  });
}

/** As much is unpacked at a time: with less, most of the time goes to handing it over. */
const CHUNK = 512 * 1024;

/** Chunk by chunk. */
export async function* brotliDecompressed(bytes: Uint8Array): AsyncGenerator<Buffer> {
  const { createBrotliDecompress } = await import('node:zlib');
  const unpacking = createBrotliDecompress({ chunkSize: CHUNK });
  unpacking.end(bytes);
  for await (const chunk of unpacking) yield chunk as Buffer;
}

type Pass = (bytes: Uint8Array, done: (error: Error | null, result: Buffer) => void) => void;

/** As `promisify`, for which all of `node:util` would be loaded. */
function pass(work: Pass, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => work(bytes, (error, result) => (error ? reject(error) : resolve(result))));
}
