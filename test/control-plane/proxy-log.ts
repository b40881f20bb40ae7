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
  const { searchParams, pathname } = new URL(path, 'https://localhost');
  if (method === 'GET' || method === 'HEAD') return /^(true|1)$/.test(searchParams.get('watch') ?? '') ? 'watch' : 'read';
  return searchParams.has('dryRun') || QUESTIONS.test(pathname) ? 'ask' : 'write';
}

/** A line of the log, while it is being written. */
export type Entry = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

/** The log of one proxy. */
export class RequestLog {
  readonly requests: Entry[] = [];
  #moments = 0;

  arrive(request: Omit<SeenRequest, 'number'>): Entry {
    const entry = { ...request, number: this.requests.length + 1, arrivedAt: this.#now() };
    this.requests.push(entry);
    return entry;
  }

  answered(entry: Entry, status: number): void {
    entry.clientStatus = status;
    entry.answeredAt = this.#now();
  }

  #now(): number {
    this.#moments += 1;
    return this.#moments;
  }
}
