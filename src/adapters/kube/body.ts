import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** The answer's body as it was before compression. */
export async function plainBody(message: IncomingMessage): Promise<Readable> {
  if (message.headers['content-encoding'] !== 'gzip') return message;
  const [{ createGunzip }, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream')]);
  // pipeline, not pipe: a broken connection must end the reader with its error.
  return pipeline(message, createGunzip(), () => undefined);
}

/** The whole body as text. */
export async function readText(message: IncomingMessage): Promise<string> {
  const body = await plainBody(message);
  // Listeners: a loop over the stream costs more than all else that is done with a small answer, and there may be thousands.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.on('error', reject);
    body.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    body.on('close', () => {
      if (!body.readableEnded) reject(Object.assign(new Error('the connection ended within the answer'), { code: 'ECONNRESET' }));
    });
    // Whoever tells the body with `-v=8` has paused it until its reader is there.
    body.resume();
  });
}

/** The lines of a body as they arrive; a last line without its end is dropped (the connection broke in it). */
export async function* readLines(message: IncomingMessage): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  for await (const chunk of await plainBody(message)) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...pending, rest.subarray(0, end)]).toString('utf8');
      pending = [];
      rest = rest.subarray(end + 1);
      if (line.trim() !== '') yield line;
    }
    if (rest.length > 0) pending.push(rest);
  }
}
