import type { ArmedFault, FaultKind } from '../control-plane/proxy-faults.ts';
import type { SeenRequest } from '../control-plane/proxy-log.ts';
import { numbersFrom } from './seed.ts';

/** A sort of requests among which a fault chooses. */
export type Among = 'writes' | 'reads' | 'repeated reads' | 'watches';

/** The fault that one run of a sweep meets: the `nth` request of a sort, from 1. */
export interface FaultPoint {
  readonly kind: FaultKind;
  readonly among: Among;
  readonly nth: number;
}

export const pointText = ({ kind, among, nth }: FaultPoint): string => `${kind} at number ${nth} of the ${among}`;

/** As the proxy takes it. */
export function armed({ kind, among, nth }: FaultPoint, kill?: () => void): ArmedFault {
  return { kind, nth, matches: (request) => isAmong(among, request), ...(kill ? { kill } : {}) };
}

/** A fault and the sort of requests that it strikes. */
export type Stratum = Omit<FaultPoint, 'nth'>;

const SORTS: Readonly<Record<Among, (request: SeenRequest) => boolean>> = {
  writes: ({ purpose }) => purpose === 'write',
  reads: ({ purpose }) => purpose === 'read' || purpose === 'ask',
  'repeated reads': ({ isRepeated }) => isRepeated,
  watches: ({ purpose }) => purpose === 'watch',
};

export const isAmong = (among: Among, request: SeenRequest): boolean => SORTS[among](request);
const countAmong = (among: Among, requests: readonly SeenRequest[]): number => requests.filter(SORTS[among]).length;

/** Every fault and the requests where it can do harm, the most harmful first. */
export const STRATA: readonly Stratum[] = [
  { kind: 'kill-after', among: 'writes' },
  { kind: 'reset-after', among: 'writes' },
  { kind: 'stale', among: 'repeated reads' },
  { kind: 'conflict', among: 'writes' },
  { kind: 'server-error', among: 'writes' },
  { kind: 'kill-before', among: 'writes' },
  { kind: 'too-many-requests', among: 'writes' },
  { kind: 'unavailable', among: 'writes' },
  { kind: 'reset-before', among: 'writes' },
  { kind: 'silence-after', among: 'writes' },
  { kind: 'gone', among: 'watches' },
  { kind: 'server-error', among: 'reads' },
  { kind: 'unavailable', among: 'reads' },
  { kind: 'too-many-requests', among: 'reads' },
  { kind: 'reset-before', among: 'reads' },
  { kind: 'reset-before', among: 'watches' },
];

/** Every fault at every request of its sort: nothing is left to chance. */
export const everyFaultPoint = (requests: readonly SeenRequest[], strata: readonly Stratum[]): readonly FaultPoint[] =>
  strata.flatMap((stratum) =>
    Array.from({ length: countAmong(stratum.among, requests) }, (_, index): FaultPoint => ({ ...stratum, nth: index + 1 })),
  );

/** The point in a run that sends these requests: a number below zero counts from the end, and -1 is the last. */
export function fromEnd(requests: readonly SeenRequest[], point: FaultPoint): FaultPoint {
  return point.nth > 0 ? point : { ...point, nth: countAmong(point.among, requests) + 1 + point.nth };
}

/**
 * Points for a run that sends these requests: the strata in turn until there are enough, each stratum's
 * points spread over the whole run, chance moving them within their part. The same seed, the same points.
 */
export function chooseFaultPoints(
  requests: readonly SeenRequest[],
  count: number,
  seed: number,
  strata: readonly Stratum[] = STRATA,
): readonly FaultPoint[] {
  const next = numbersFrom(seed);
  const reached = strata.filter(({ among }) => requests.some((request) => isAmong(among, request)));
  const used = (reached.length > 0 ? reached : strata).slice(0, count);
  const rounds = Math.ceil(count / used.length);
  return Array.from({ length: count }, (_, index) => {
    const stratum = used[index % used.length] ?? { kind: 'kill-after', among: 'writes' };
    const round = Math.floor(index / used.length);
    const size = countAmong(stratum.among, requests);
    // Strata begin in different parts of the run: a short sweep is not all at its beginning.
    const part = (round + (index % used.length)) % rounds;
    const within = rounds === 1 ? next() : (part + next()) / rounds;
    return { ...stratum, nth: Math.max(1, Math.min(size, 1 + Math.floor(within * size))) };
  });
}
