/** Node's compression, loaded when there is something to compress: the shortest commands have nothing, and it costs them as much as a request. */
export async function gzip(bytes: Uint8Array): Promise<Buffer> {
  return pass((await import('node:zlib')).gzip, bytes);
}

/** Bytes of anything of ours once it is unpacked: half a megabyte can be packed that becomes gigabytes. */
const UNPACKED_BYTES = 64 * 1024 * 1024;

/** Rejects if it is no gzip data, is cut short, or would have more than 64 MiB. */
export async function gunzip(bytes: Uint8Array): Promise<Buffer> {
  const { gunzip: unpack } = await import('node:zlib');
  return pass((packed, done) => unpack(packed, { maxOutputLength: UNPACKED_BYTES }, done), bytes);
}

export async function brotliDecompress(bytes: Uint8Array): Promise<Buffer> {
  return pass((await import('node:zlib')).brotliDecompress, bytes);
}

type Pass = (bytes: Uint8Array, done: (error: Error | null, result: Buffer) => void) => void;

/** As `promisify`, for which all of `node:util` would be loaded. */
function pass(work: Pass, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => work(bytes, (error, result) => (error ? reject(error) : resolve(result))));
}
