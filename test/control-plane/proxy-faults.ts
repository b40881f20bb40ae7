import type { OutgoingHttpHeaders } from 'node:http';
import type { SeenRequest } from './proxy-log.ts';

/** What can befall a request. `kill` cuts all clients off, as if their machine had died, until the fault is ended. */
export const FAULT_KINDS = [
  'kill-before',
  'kill-after',
  'conflict',
  'too-many-requests',
  'server-error',
  'unavailable',
  'reset-before',
  'reset-after',
  'silence-after',
  'stale',
  'gone',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** The fault of one request: the `nth` (from 1) of those that match. */
export interface ArmedFault {
  readonly kind: FaultKind;
  readonly nth: number;
  matches(request: SeenRequest): boolean;
  /** Ends the client's process; for the kinds that kill. */
  kill?(): void;
}

/** An answer as bytes, to be sent as it is. */
export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** When a fault strikes: instead of asking the server, or after the server has done it. */
export function strikesBefore(kind: FaultKind): boolean {
  return !kind.endsWith('-after');
}

/** The answer that some kinds put in the server's place; undefined for those that answer nothing. */
export function answerOf(kind: FaultKind, request: SeenRequest): Answer | undefined {
  switch (kind) {
    case 'conflict':
      return refusal(409, 'Conflict', `Operation cannot be fulfilled on ${request.path}: the object has been modified`);
    case 'too-many-requests':
      return refusal(429, 'TooManyRequests', 'too many requests, please try again later', { 'retry-after': '1' });
    case 'server-error':
      return refusal(500, 'InternalError', 'Internal error occurred: etcdserver: leader changed');
    case 'unavailable':
      return refusal(503, 'ServiceUnavailable', 'the server is currently unable to handle the request');
    case 'gone':
      return expired();
    default:
      return undefined;
  }
}

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

function refusal(code: number, reason: string, message: string, headers: OutgoingHttpHeaders = {}): Answer {
  return answer(code, status(code, reason, message), headers);
}

/** A watch that begins well, and at once says that its place in history is no longer kept. */
function expired(): Answer {
  return answer(200, { type: 'ERROR', object: status(410, 'Expired', 'too old resource version') }, {});
}

function answer(code: number, content: object, headers: OutgoingHttpHeaders): Answer {
  return { status: code, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(`${JSON.stringify(content)}\n`) };
}
