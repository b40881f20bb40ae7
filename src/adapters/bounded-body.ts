import type { Readable } from 'node:stream';

/** An answer is larger than what it may be: it is read no further. */
export class TooLarge extends Error {
  constructor(limitBytes: number) {
    super(`the answer has more than ${limitBytes} bytes`);
  }
}

/**
 * All of a body; otherwise the stream is destroyed. Rejects with `TooLarge` past the limit, with the signal's reason however slowly bytes
 * arrive, and with an error for a truncated body.
 */
export async function boundedBody(body: Readable, limitBytes: number, deadline?: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  await eachChunk(body, limitBytes, (chunk) => chunks.push(chunk), deadline);
  return Buffer.concat(chunks);
}

/** The same piece by piece, by listeners: a loop over the stream costs more than all else that is done with a small answer. */
export function eachChunk(body: Readable, limitBytes: number, take: (chunk: Buffer) => void, deadline?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const fail = (error: unknown) => {
      deadline?.removeEventListener('abort', late);
      reject(error);
      body.destroy();
    };
    const late = () => fail(deadline?.reason);
    deadline?.addEventListener('abort', late, { once: true });
    if (deadline?.aborted) return late();
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) return fail(new TooLarge(limitBytes));
      try {
        take(chunk);
      } catch (thrown) {
        fail(thrown);
      }
    });
    body.on('error', fail);
    body.on('end', () => {
      deadline?.removeEventListener('abort', late);
      resolve();
    });
    body.on('close', () => {
      if (!body.readableEnded) fail(Object.assign(new Error('the connection ended within the answer'), { code: 'ECONNRESET' }));
    });
    // Whoever tells the body with `-v=8` has paused it until its reader is there.
    body.resume();
  });
}

/** Node's `http` without TLS: a usual import runs a getter that loads all of Node's `fetch`, as costly as Node's own start. */
export function plainHttp(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}
