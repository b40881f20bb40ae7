import type { KubeObject } from '../../kernel/object.ts';
import type { LockHolder } from '../../kernel/ports.ts';

export const LEASE_NAME = 'netsvc-upgrade';
/** A lease that was not renewed for this long is free. */
export const LEASE_SECONDS = 60;

export interface LeaseSpec {
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

/** The lease stays with nobody in it: taking it again needs no right to create or delete. */
export function released(lease: KubeObject): KubeObject {
  const { leaseTransitions = 0 } = specOf(lease);
  return { ...lease, spec: { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions } };
}

function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
