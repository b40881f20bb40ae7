import type { IncomingHttpHeaders } from 'node:http';

/** What a request wants: `ask` is a write by its method that stores nothing (a dry run, a question about permissions). */
export type Purpose = 'read' | 'watch' | 'write' | 'ask';

/** A request as the proxy saw it arrive. */
export interface SeenRequest {
  /** From 1, in order of arrival. */
  readonly number: number;
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly purpose: Purpose;
  readonly userAgent: string;
  /** The same question has been answered before: there is something stale to answer with. */
  readonly isRepeated: boolean;
  /** Sent body of a write or an `ask`, if bodies are kept. */
  readonly body?: string;
}

/** A request and what became of it. Moments are counted, not timed: of two, the earlier has the smaller number. */
export interface LoggedRequest extends SeenRequest {
  readonly arrivedAt: number;
  /** What the server answered: it is there although the client may never have seen it. */
  readonly serverStatus?: number;
  /** What the client was answered, and when; missing if it never was. */
  readonly clientStatus?: number;
  readonly answeredAt?: number;
  /** The fault that struck it. */
  readonly fault?: string;
}

const QUESTIONS = /\/(selfsubjectaccessreviews|selfsubjectrulesreviews|selfsubjectreviews|subjectaccessreviews|tokenreviews)$/;

export function purposeOf(method: string, path: string): Purpose {
  const url = new URL(path, 'https://localhost');
  const { searchParams, pathname } = url;
  if (method === 'GET' || method === 'HEAD') return /^(true|1)$/.test(searchParams.get('watch') ?? '') ? 'watch' : 'read';
  return searchParams.has('dryRun') || QUESTIONS.test(pathname) ? 'ask' : 'write';
}

/** The log of one proxy. */
export interface ProxyLog {
  readonly requests: readonly LoggedRequest[];
  arrive(request: Omit<SeenRequest, 'number'>): Entry;
}

/** One request's line, while it is being written. */
export interface Entry {
  readonly seen: LoggedRequest;
  struck(fault: string): void;
  served(status: number): void;
  answered(status: number): void;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function openLog(): ProxyLog {
  const requests: Writable<LoggedRequest>[] = [];
  let moments = 0;
  const now = () => {
    moments += 1;
    return moments;
  };
  return {
    requests,
    arrive(request) {
      const seen: Writable<LoggedRequest> = { ...request, number: requests.length + 1, arrivedAt: now() };
      requests.push(seen);
      return {
        seen,
        struck: (fault) => {
          seen.fault = fault;
        },
        served: (status) => {
          seen.serverStatus = status;
        },
        answered: (status) => {
          seen.clientStatus = status;
          seen.answeredAt = now();
        },
      };
    },
  };
}

export const userAgentOf = (headers: IncomingHttpHeaders): string => headers['user-agent'] ?? '';
