import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type Interruption, interrupted } from '../../kernel/interruption.ts';
import { type ApiFailure, TOO_MUCH } from '../../kernel/ports.ts';
import type { Call } from '../trace.ts';
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
  headers: Readonly<Record<string, string | string[]>>,
  timeoutMs: number | undefined,
): Promise<IncomingMessage> {
  const body = call.body === undefined ? undefined : Buffer.from(typeof call.body === 'string' ? call.body : JSON.stringify(call.body));
  const sent: OutgoingHttpHeaders = { ...headers, ...(body ? { 'Content-Length': body.length } : {}) };
  return new Promise((resolve, reject) => {
    const signal = signalOf(call.signal, timeoutMs);
    let isAnswered = false;
    const request = wire.open(
      call.path,
      { writes: changes(call), method: call.method ?? 'GET', headers: sent, timeout: CONNECT_MS },
      (message) => {
        // Whoever reads sees a broken body; without any listener it would end the process.
        message.on('error', () => undefined);
        isAnswered = true;
        resolve(message);
      },
    );
    const fail = (error: unknown) =>
      reject(signal?.aborted && !call.signal?.aborted ? timedOut(`no answer within ${timeoutMs} ms (--request-timeout)`) : error);
    // Destroyed before it has a socket, a request emits nothing: a silent or slow proxy would hold it for ever.
    const end = () => {
      fail(signal?.reason);
      request.destroy(signal?.reason);
    };
    signal?.addEventListener('abort', end, { once: true });
    const idleMs = call.idleMs ?? IDLE_MS;
    request.once('socket', (socket) => {
      if (!socket.connecting) return void request.setTimeout(idleMs);
      socket.once(wire.secure ? 'secureConnect' : 'connect', () => request.setTimeout(idleMs));
    });
    request.on('timeout', () => request.destroy(timedOut('the connection was silent for too long')));
    request.on('error', fail);
    request.on('close', () => {
      signal?.removeEventListener('abort', end);
      // An answer in another protocol ends the connection, and is no error for Node.
      if (!isAnswered) reject(Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' }));
    });
    if (signal?.aborted) end();
    else request.end(body);
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

/** When a request ends before its answer: its caller's own reason, or Ctrl-C. */
export interface RequestEnd {
  readonly signal: AbortSignal;
  /** Throws what the caller's signal was aborted with, or Fault('interrupted'). */
  throwIfEnded(): void;
  /** The work's value. Once the request has ended it is not waited for, and its own failure is ignored. */
  whileOpen<T>(work: Promise<T>): Promise<T>;
  /** Ends it with this reason after this time, unless the returned function is called before. */
  endAfter(ms: number, reason: () => Error): () => void;
  close(): void;
}

/** Ends requests at Ctrl-C: those under way at once, later ones (run record, lock) when their time is over. */
export class RequestCut {
  readonly #interruption: Pick<Interruption, 'hard' | 'late'> | undefined;
  readonly #open = new Set<AbortController>();

  constructor(interruption: Pick<Interruption, 'hard' | 'late'> | undefined) {
    this.#interruption = interruption;
    const cut = () => {
      for (const one of this.#open) one.abort(interrupted());
    };
    interruption?.hard.addEventListener('abort', cut, { once: true });
    interruption?.late.addEventListener('abort', cut, { once: true });
  }

  open(own: AbortSignal | undefined): RequestEnd {
    const cut = new AbortController();
    if (this.#interruption?.late.aborted) cut.abort(interrupted());
    this.#open.add(cut);
    const signal = own ? AbortSignal.any([own, cut.signal]) : cut.signal;
    const throwIfEnded = () => {
      own?.throwIfAborted();
      cut.signal.throwIfAborted();
    };
    return {
      signal,
      throwIfEnded,
      async whileOpen(work) {
        const ended = Promise.withResolvers<never>();
        const end = () => ended.reject(signal.reason);
        signal.addEventListener('abort', end, { once: true });
        try {
          return await Promise.race([work, ended.promise]);
        } catch (thrown) {
          throwIfEnded();
          throw thrown;
        } finally {
          signal.removeEventListener('abort', end);
        }
      },
      endAfter(ms, reason) {
        const timer = setTimeout(() => cut.abort(reason()), ms);
        return () => clearTimeout(timer);
      },
      close: () => this.#open.delete(cut),
    };
  }
}

/** Longest pause that a Retry-After header can ask for; milliseconds. */
const LONGEST_MS = 30_000;

/** And the shortest: a server that asks for none is not asked in a tight loop. */
const SHORTEST_MS = 100;

/** Answers after which the same request may be sent again. */
export function retryableStatus(status: number, method: string, repeatable: boolean, retryAfter: string | undefined): boolean {
  // 429 is said before anything is done, so even a write may come again.
  if (status === TOO_MUCH) return true;
  if (!repeatable) return false;
  if (status === 502 || status === 503 || status === 504) return true;
  // Server-side apply answers 500 to documents that do not fit the schema: that is final.
  return status === 500 && (method === 'GET' || retryAfter !== undefined);
}

/** The connection broke, most often a kept-alive one that the other side had closed. Refused and unknown hosts are final. */
export function isResettable(thrown: unknown): boolean {
  const code = (thrown as { readonly code?: unknown } | undefined)?.code;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Pause before attempt+1: the server's wish, else 0.2 s doubled each time. Milliseconds. */
function delayOf(attempt: number, retryAfter: string | undefined): number {
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter);
  const wished = Number.isNaN(seconds) ? 100 * 2 ** attempt : seconds * 1000;
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, wished));
}

/** A request that was refused, or got no answer. */
export interface Refused {
  readonly failure: ApiFailure;
  /** It may be sent again. */
  readonly again: boolean;
  readonly retryAfter?: string;
}

const ATTEMPTS = 5;
/** So long one request pauses where it is refused again and again; after Ctrl-C, where only what is begun comes to its end. Milliseconds. */
const PATIENCE_MS = { usual: 120_000, stopping: 5_000 } as const;
/** After such pauses the user is told. */
const LONG_MS = 2_000;

/** How often one request is sent. With 429 the server says that it has done nothing: that counts by time, and apart from failures. */
export class Patience {
  #tries = 0;
  #refusals = 0;
  #refusedMs = 0;

  get wasRefused(): boolean {
    return this.#refusals > 0;
  }

  /** It has paused so long because of 429 that the user wants to know. */
  get isLong(): boolean {
    return this.#refusedMs > LONG_MS;
  }

  /** The pause before it is sent again, milliseconds; undefined if it is not. */
  pauseAfter({ failure, again, retryAfter }: Refused, isStopping: boolean): number | undefined {
    if (failure.status !== TOO_MUCH) {
      this.#tries += 1;
      return again && this.#tries < ATTEMPTS ? delayOf(this.#tries, retryAfter) : undefined;
    }
    this.#refusals += 1;
    const pauseMs = delayOf(this.#refusals, retryAfter);
    this.#refusedMs += pauseMs;
    return this.#refusedMs <= PATIENCE_MS[isStopping ? 'stopping' : 'usual'] ? pauseMs : undefined;
  }
}
