import type { IncomingMessage } from 'node:http';
import { HIDDEN } from '../kernel/hidden.ts';

/** Levels of `-v`, as kubectl counts them: what each adds. */
export const LEVEL = { programs: 1, requests: 6, headers: 7, bodies: 8 } as const;

/** What happens underneath, line by line, for the user who asked for it with `-v`. */
export interface Trace {
  readonly level: number;
  say(line: string): void;
}

/** Characters of a body that are shown. */
const BODY_LIMIT = 1024;

const SECRET_HEADERS: readonly string[] = ['authorization', 'cookie', 'set-cookie', 'proxy-authorization'];

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One request as it was sent, and the head of its answer. */
export interface Exchanged {
  readonly call: Call;
  readonly headers: Headers;
  readonly message: IncomingMessage;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** One request and its answer, in as much detail as was asked for. */
export function traceExchange(trace: Trace | undefined, server: string, { call, headers, message, startedAt }: Exchanged): void {
  if (!trace || trace.level < LEVEL.requests) return;
  const { method = 'GET', path } = call;
  trace.say(`${method} ${server}${path} ${message.statusCode} ${message.statusMessage} in ${Date.now() - startedAt} milliseconds`);
  traceHeaders(trace, 'Request Headers', headers);
  if (call.body !== undefined)
    traceBody(trace, 'Request Body', path, typeof call.body === 'string' ? call.body : JSON.stringify(call.body));
  traceHeaders(trace, 'Response Headers', message.headers);
  traceAnswer(trace, path, message);
}

/** A request that no answer came to. */
export function traceSilence(trace: Trace | undefined, server: string, { call, startedAt }: Pick<Exchanged, 'call' | 'startedAt'>): void {
  if (!trace || trace.level < LEVEL.requests) return;
  trace.say(`${call.method ?? 'GET'} ${server}${call.path} without an answer after ${Date.now() - startedAt} milliseconds`);
}

/** Headers as lines, what proves who we are hidden. */
function traceHeaders(trace: Trace, title: string, headers: Headers): void {
  if (trace.level < LEVEL.headers) return;
  trace.say(`${title}:`);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    trace.say(`    ${name}: ${SECRET_HEADERS.includes(name.toLowerCase()) ? HIDDEN : text}`);
  }
}

/** A body, cut at 1,024 characters; only its size where it may hold a Secret. */
function traceBody(trace: Trace, title: string, path: string, text: string, total = text.length): void {
  if (trace.level < LEVEL.bodies) return;
  const hidden = mayHoldSecret(path, text);
  const rest = total - BODY_LIMIT;
  trace.say(`${title}: ${hidden ? `${HIDDEN} (${total} characters)` : text.slice(0, BODY_LIMIT)}`);
  if (!hidden && rest > 0) trace.say(`    … ${rest} more characters`);
}

/** Tells the body of an answer once it was read, without reading a byte of it ahead of its reader. */
function traceAnswer(trace: Trace, path: string, message: IncomingMessage): void {
  if (trace.level < LEVEL.bodies) return;
  const chunks: Buffer[] = [];
  let total = 0;
  // Paused first: a listener must not start the flow before the reader is there.
  message.pause();
  message.on('data', (chunk: Buffer) => {
    // A watch continues for minutes: no more is kept than is shown.
    if (total <= BODY_LIMIT) chunks.push(chunk);
    total += chunk.length;
  });
  message.once('end', () => traceBody(trace, 'Response Body', path, Buffer.concat(chunks).toString('utf8'), total));
}

/** Secrets by address or by what they say of themselves, and requests for tokens. */
function mayHoldSecret(path: string, text: string): boolean {
  return /\/(secrets|token)(\/|\?|$)/.test(path) || /"kind":\s*"(Secret|SecretList|TokenRequest|TokenReview)"/.test(text);
}

/** One request. */
export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below the server's URL. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** May be sent twice without harm; GETs always may. */
  readonly repeatable?: boolean;
  /** Silence after which the connection counts as dead; milliseconds. */
  readonly idleMs?: number;
  /** Limits of one answer, where they are less than those of any. */
  readonly most?: { readonly bytes: number; readonly ms: number };
}
