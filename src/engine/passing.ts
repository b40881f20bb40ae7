import { ApiFailure } from '../core/ports.ts';

/** No answer, or one that tells to come back: a wait goes on over it, for that is usual while the network of the cluster is moved. */
export function isPassing(thrown: unknown): thrown is ApiFailure {
  return thrown instanceof ApiFailure && (thrown.status === 0 || thrown.status === 429 || thrown.status >= 500);
}
