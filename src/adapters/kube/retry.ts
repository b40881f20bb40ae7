/** Longest pause that a Retry-After header can ask for; milliseconds. */
const LONGEST_MS = 30_000;

/** Answers after which the same request may be sent again. */
export function retryableStatus(status: number, method: string, repeatable: boolean, retryAfter: string | undefined): boolean {
  // 429 is said before anything is done, so even a write may come again.
  if (status === 429) return true;
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
export function delayOf(attempt: number, retryAfter: string | undefined): number {
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter);
  const wished = Number.isNaN(seconds) ? 100 * 2 ** attempt : seconds * 1000;
  return Math.min(LONGEST_MS, Math.max(0, wished));
}
