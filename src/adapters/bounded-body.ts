import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { Readable } from 'node:stream';
import { giveMemoryBack } from './memory.ts';

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
function eachChunk(body: Readable, limitBytes: number, take: (chunk: Buffer) => void, deadline?: AbortSignal): Promise<void> {
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

/** The connection ended without an answer; or with one in another protocol, which is no error for Node. */
export class HungUp extends Error {
  constructor() {
    super('the connection ended without an answer');
  }
}

/** Sends one request, over TLS only to a server whose certificate is trusted; resolves with the head of its answer. Rejects with the signal's reason, for a request without a socket emits nothing. */
export async function headOf(url: URL, settings: RequestOptions, cut: AbortSignal, body?: string): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : plainHttp();
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...settings, rejectUnauthorized: true }, (answer) => {
      answer.on('error', () => undefined);
      resolve(answer);
    });
    const end = () => {
      reject(cut.reason);
      sent.destroy(cut.reason);
    };
    cut.addEventListener('abort', end, { once: true });
    sent.on('timeout', () => sent.destroy(new Error(`no answer for ${settings.timeout} ms`)));
    sent.on('error', reject);
    sent.on('close', () => {
      cut.removeEventListener('abort', end);
      reject(new HungUp());
    });
    sent.end(body);
  });
}

/** Bytes of one answer once it is unpacked: a page of 500 objects of half a megabyte each. A few kilobytes can be packed that become gigabytes. */
export const ANSWER_BYTES = 256 * 1024 * 1024;
/** Bytes of one event of a watch: no object of a cluster has as many. */
const LINE_BYTES = 32 * 1024 * 1024;

/** The answer's body as it was before compression. */
async function unpacked(message: IncomingMessage): Promise<Readable> {
  if (message.headers['content-encoding'] !== 'gzip') return message;
  const [{ createGunzip }, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream')]);
  // pipeline, not pipe: a broken connection must end the reader with its error.
  return pipeline(message, createGunzip(), () => undefined);
}

/** Calls `take` with each piece of an answer's body as it was before compression. Throws `TooLarge` past the limit. */
export async function readChunks(message: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  const taken = (chunk: Buffer) => {
    take(chunk);
    giveMemoryBack(chunk.length);
  };
  await eachChunk(await unpacked(message), ANSWER_BYTES, taken);
}

/** The whole body as text. */
export async function readText(message: IncomingMessage, limitBytes = ANSWER_BYTES): Promise<string> {
  return (await boundedBody(await unpacked(message), limitBytes)).toString('utf8');
}

/** The lines of a body as they arrive; a last line without its end is dropped (the connection broke in it). */
export async function* readLines(message: IncomingMessage): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const chunk of await unpacked(message)) {
    let rest = chunk as Buffer;
    giveMemoryBack(rest.length);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...pending, rest.subarray(0, end)]).toString('utf8');
      pending = [];
      size = 0;
      rest = rest.subarray(end + 1);
      if (line.trim() !== '') yield line;
    }
    size += rest.length;
    if (size > LINE_BYTES) throw new TooLarge(LINE_BYTES);
    if (rest.length > 0) pending.push(rest);
  }
}
