import type { OutgoingHttpHeaders } from 'node:http';
import type { SeenRequest } from './proxy-log.ts';

/** An answer as bytes, to be sent as it is. */
export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** The answers that some faults put in the server's place, by the path that was asked for. */
const ANSWERS = {
  conflict: (path: string) => refusal(409, 'Conflict', `Operation cannot be fulfilled on ${path}: the object has been modified`),
  'too-many-requests': () => refusal(429, 'TooManyRequests', 'too many requests, please try again later', { 'retry-after': '1' }),
  'server-error': () => refusal(500, 'InternalError', 'Internal error occurred: etcdserver: leader changed'),
  unavailable: () => refusal(503, 'ServiceUnavailable', 'the server is currently unable to handle the request'),
  // A watch that begins well, and at once says that its place in history is no longer kept.
  gone: () => answer(200, { type: 'ERROR', object: status(410, 'Expired', 'too old resource version') }),
};

/** What can befall a request. `kill` cuts all clients off, as if their machine had died, until the fault is ended. */
export type FaultKind = keyof typeof ANSWERS | `${'kill' | 'reset'}-${'before' | 'after'}` | 'silence-after' | 'stale';

/** Undefined for a kind that has no answer of its own. */
export function answerOf(kind: FaultKind, path: string): Answer | undefined {
  return kind in ANSWERS ? ANSWERS[kind as keyof typeof ANSWERS](path) : undefined;
}

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

function refusal(code: number, reason: string, message: string, headers: OutgoingHttpHeaders = {}): Answer {
  return answer(code, status(code, reason, message), headers);
}

function answer(code: number, content: object, headers: OutgoingHttpHeaders = {}): Answer {
  return { status: code, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(`${JSON.stringify(content)}\n`) };
}

/** The fault of one request: the `nth` (from 1) of those that match. */
export interface ArmedFault {
  readonly kind: FaultKind;
  readonly nth: number;
  matches(request: SeenRequest): boolean;
  /** Ends the client's process; for the kinds that kill. */
  kill?(): void;
}
