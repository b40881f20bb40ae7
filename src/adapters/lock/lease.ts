import { uptime } from 'node:os';
import type { KubeObject } from '../../kernel/object.ts';
import type { LockHolder } from '../../kernel/ports.ts';

export const LEASE_NAME = 'netsvc-upgrade';
/** A lease that was not renewed for this long is free. */
export const LEASE_SECONDS = 60;

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export function specOf(lease: KubeObject): LeaseSpec {
  return (lease.spec ?? {}) as LeaseSpec;
}

/** Who holds the lease by what it says; undefined if it was released. */
export function holderOf(lease: KubeObject | undefined): LockHolder | undefined {
  if (!lease) return undefined;
  const { holderIdentity, acquireTime = '', renewTime = '' } = specOf(lease);
  return holderIdentity ? { identity: holderIdentity, acquiredAt: acquireTime, renewedAt: renewTime } : undefined;
}

/** True if nobody holds the lease at this time of the server. */
export function isFree(lease: KubeObject, serverNow: number): boolean {
  const { holderIdentity, renewTime = '', leaseDurationSeconds = LEASE_SECONDS } = specOf(lease);
  const renewed = Date.parse(renewTime);
  return !holderIdentity || Number.isNaN(renewed) || serverNow > renewed + leaseDurationSeconds * 1000;
}

/** The lease as it is when `identity` takes it. */
export function taken(lease: KubeObject | undefined, namespace: string, identity: string, serverNow: number): KubeObject {
  const now = microTime(serverNow);
  const before = lease ? specOf(lease) : undefined;
  const leaseTransitions = before ? (before.leaseTransitions ?? 0) + 1 : 0;
  const spec: LeaseSpec = {
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_SECONDS,
    acquireTime: now,
    renewTime: now,
    leaseTransitions,
  };
  const fresh = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: LEASE_NAME, namespace } };
  return { ...(lease ?? fresh), spec };
}

export function renewed(lease: KubeObject, serverNow: number): KubeObject {
  return { ...lease, spec: { ...specOf(lease), renewTime: microTime(serverNow) } };
}

/** The lease stays without a holder: taking it again needs no right to create or delete. */
export function released(lease: KubeObject): KubeObject {
  const { leaseTransitions = 0 } = specOf(lease);
  return { ...lease, spec: { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions } };
}

function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

/** A lease not renewed for this long is given up, safely before another run may take it. */
export const GIVE_UP_MS = (LEASE_SECONDS - 15) * 1000;

/** How long ago the lease was surely ours: counted from the start of the last renewal that succeeded. */
export class Renewals {
  readonly #start: () => Stopwatch;
  #good: Stopwatch;

  constructor(start: () => Stopwatch = startStopwatch) {
    this.#start = start;
    this.#good = start();
  }

  begin(): Stopwatch {
    return this.#start();
  }

  succeeded(attempt: Stopwatch): void {
    this.#good = attempt;
  }

  get tooOld(): boolean {
    return this.#good() >= GIVE_UP_MS;
  }
}

/** Milliseconds since it was started. */
export type Stopwatch = () => number;

/** Starts a stopwatch that also counts sleep: on some systems only the time since boot does, so the longer clock counts. */
export function startStopwatch(now: () => readonly number[] = readings): Stopwatch {
  const start = now();
  return () => Math.max(...now().map((reading, index) => reading - (start[index] ?? reading)));
}

function readings(): readonly number[] {
  return [performance.now(), uptime() * 1000];
}
