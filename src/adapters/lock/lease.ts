import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime, userInfo } from 'node:os';
import type { KubeObject } from '../../kernel/object.ts';
import type { LockHolder } from '../../kernel/ports.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { sha256Of } from '../../kube/sha256.ts';

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
export function taken(lease: KubeObject | undefined, identity: string, serverNow: number): KubeObject {
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
  const fresh = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: LEASE_NAME, namespace: STATE_NAMESPACE } };
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

/** Taken from its holder, whose programs may still write: the time of its renewal stays, which one that was given back does not have. */
export function broken(lease: KubeObject): KubeObject {
  return { ...lease, spec: { ...specOf(lease), holderIdentity: '' } };
}

function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

/** A lease not renewed for this long is given up, safely before another run may take it. */
export const GIVE_UP_MS = (LEASE_SECONDS - 15) * 1000;

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

/** `alice@bastion`: for the run record and for users. */
export function operatorName(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `unknown@${hostname()}`; // a user id without an entry in the password file
  }
}

/** `alice@bastion/4711/1a2b3c4d`: the lock's holder; the last part tells machines, their boots and their process namespaces apart. */
export function runIdentity(): string {
  return `${operatorName()}/${process.pid}/${processSpace()}`;
}

/** True only for an ended process of this boot and namespace whose programs are visible; another user's may be hidden. */
export function isGone(identity: string): boolean {
  const pid = pidHere(identity);
  if (pid === undefined || isRunning(pid)) return false;
  return identity.split('/')[0] === operatorName() || process.getuid?.() === 0;
}

/** The process of a lock's holder, if it is, or was, one of this very boot and process namespace. */
export function pidHere(identity: string): number | undefined {
  const [, pid = '', space = ''] = identity.split('/');
  return space !== '' && space === processSpace() && /^\d+$/.test(pid) ? Number(pid) : undefined;
}

/** True if there is a process of that id on this machine, whoever it is of. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Empty where the system does not tell (not Linux): then only the lease's own time limit frees a lock. */
function processSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return sha256Of(`${hostname()} ${boot} ${readlinkSync('/proc/self/ns/pid')}`).slice(0, 8);
  } catch {
    return '';
  }
}
