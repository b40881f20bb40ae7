import { ApiFailure } from './ports.ts';

/** An answer over HTTP that tells to come back, or none at all (0). */
export function isPassingStatus(status: number): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** No answer, or one that tells to come back: a wait continues over it, for that is usual while the network of the cluster is moved. */
export function isPassing(thrown: unknown): thrown is ApiFailure {
  return thrown instanceof ApiFailure && isPassingStatus(thrown.status);
}
