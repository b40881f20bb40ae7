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
}
