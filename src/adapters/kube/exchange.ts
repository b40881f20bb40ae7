import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Call } from './transport.ts';
import type { Wire } from './wire.ts';

/** Limit for making a connection, as kubectl's; milliseconds. */
const CONNECT_MS = 30_000;
/** Silence on an ordinary request; the server itself gives up after 60 s. */
const IDLE_MS = 75_000;

/** True unless the request only reads or tries. */
export function changes({ method = 'GET', path }: Call): boolean {
  return method !== 'GET' && !/[?&]dryRun=/.test(path);
}

/** Sends one request and resolves with the head of its answer. Errors have the system's `code`. */
export function exchange(
  wire: Wire,
  call: Call,
  headers: Readonly<Record<string, string | readonly string[]>>,
  timeoutMs: number | undefined,
): Promise<IncomingMessage> {
  const body = call.body === undefined ? undefined : Buffer.from(typeof call.body === 'string' ? call.body : JSON.stringify(call.body));
  const url = new URL(wire.base.href.replace(/\/$/, '') + call.path);
  const sent: OutgoingHttpHeaders = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, typeof v === 'string' ? v : [...v]]));
  if (body) sent['Content-Length'] = body.length;
  return new Promise((resolve, reject) => {
    const signal = signalOf(call.signal, timeoutMs);
    const request = wire.open(
      url,
      { writes: changes(call), method: call.method ?? 'GET', headers: sent, timeout: CONNECT_MS, ...(signal ? { signal } : {}) },
      (message) => {
        // Whoever reads sees a broken body; without any listener it would end the process.
        message.on('error', () => undefined);
        resolve(message);
      },
    );
    const fail = (error: unknown) =>
      reject(signal?.aborted && !call.signal?.aborted ? timedOut(`no answer within ${timeoutMs} ms (--request-timeout)`) : error);
    // Destroyed before it has a socket, a request says nothing: a proxy that is silent, or drips, would hold it for ever.
    const end = () => fail(signal?.reason);
    signal?.addEventListener('abort', end, { once: true });
    request.once('close', () => signal?.removeEventListener('abort', end));
    const idleMs = call.idleMs ?? IDLE_MS;
    request.once('socket', (socket) => {
      if (!socket.connecting) return void request.setTimeout(idleMs);
      socket.once(wire.secure ? 'secureConnect' : 'connect', () => request.setTimeout(idleMs));
    });
    request.on('timeout', () => request.destroy(timedOut('the connection was silent for too long')));
    request.on('error', fail);
    // An answer in another protocol ends the connection, and is no error for Node.
    request.on('close', () => reject(Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' })));
    request.end(body);
  });
}

function signalOf(own: AbortSignal | undefined, timeoutMs: number | undefined): AbortSignal | undefined {
  if (timeoutMs === undefined) return own;
  const limit = AbortSignal.timeout(timeoutMs);
  return own ? AbortSignal.any([own, limit]) : limit;
}

function timedOut(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}
