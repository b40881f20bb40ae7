import { Fault } from '../core/fault.ts';
import { K } from '../core/kinds.ts';
import type { KubeObject } from '../core/object.ts';
import { ApiFailure, type Clock, type Cluster, type Lock, type LockHolder } from '../core/ports.ts';
import { holderOf, isFree, LEASE_NAME, LEASE_SECONDS, released, renewed, specOf, taken } from './lock-lease.ts';

export interface LockDeps {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, 'now'>;
  /** Namespace of the lease: where the run record is too. */
  readonly namespace: string;
  /** `user@host/pid/run id`. */
  readonly identity: string;
  /** True if that holder certainly no longer runs (a process of this machine that is gone): its lock is free at once. */
  readonly isGone?: (identity: string) => boolean;
  /** Calls `task` every `ms`, without keeping the process alive, until stopped. */
  readonly repeat?: (ms: number, task: () => void) => () => void;
}

const RENEW_MS = 15_000;
/** Renewals that fail for this long lose the lock, safely before another run may take it. */
const GIVE_UP_MS = (LEASE_SECONDS - 15) * 1000;

/** One run per cluster, by a Lease; times are the server's, so that clocks of machines need not agree. */
export function leaseLock(deps: LockDeps): Lock {
  const read = () => deps.cluster.get(K.Lease, LEASE_NAME, deps.namespace);
  return {
    holder: async () => currentHolder(deps, await read(), await serverNow(deps)),
    async acquire() {
      const lease = await take(deps, read);
      return keepRenewing(deps, read, lease);
    },
    async breakLock(identity) {
      const lease = await read();
      const holder = holderOf(lease);
      if (holder && holder.identity !== identity) throw locked(holder);
      if (lease && holder) await deps.cluster.replace(K.Lease, released(lease));
      return holder;
    },
  };
}

/** A holder that is a process of this machine and gone does not count: its lock need not run out first. */
function currentHolder({ isGone }: LockDeps, lease: KubeObject | undefined, now: number): LockHolder | undefined {
  const holder = lease && !isFree(lease, now) ? holderOf(lease) : undefined;
  return holder && isGone?.(holder.identity) ? undefined : holder;
}

async function serverNow({ cluster, clock }: LockDeps): Promise<number> {
  const skew = await cluster.clockSkewMs();
  return clock.now().getTime() + skew;
}

async function take(deps: LockDeps, read: () => Promise<KubeObject | undefined>): Promise<KubeObject> {
  const { cluster, namespace, identity } = deps;
  const lease = await read();
  const now = await serverNow(deps);
  const holder = currentHolder(deps, lease, now);
  if (holder) throw locked(holder);
  const wanted = taken(lease, namespace, identity, now);
  try {
    return lease ? await cluster.replace(K.Lease, wanted) : await cluster.create(K.Lease, wanted);
  } catch (thrown) {
    // Both 409s: another run was quicker by a moment.
    if (!(thrown instanceof ApiFailure) || thrown.status !== 409) throw thrown;
    const quicker = holderOf(await read());
    throw quicker ? locked(quicker) : thrown;
  }
}

function locked(holder: LockHolder): Fault {
  return new Fault('locked', `${holder.identity} holds the lock since ${holder.acquiredAt}, renewed ${holder.renewedAt}`, [
    'wait until that run ends: kubectl netsvc-upgrade status',
    'if it is certainly dead: kubectl netsvc-upgrade unlock',
  ]);
}

function keepRenewing(deps: LockDeps, read: () => Promise<KubeObject | undefined>, first: KubeObject) {
  const lost = new AbortController();
  const since = () => deps.clock.now().getTime();
  let lease = first;
  let goodAt = since();
  let running: Promise<void> | undefined;
  async function renew(): Promise<void> {
    const startedAt = since();
    try {
      const next = renewed(lease, await serverNow(deps));
      lease = await deps.cluster.replace(K.Lease, next).catch(async (thrown: unknown) => {
        if (!(thrown instanceof ApiFailure) || thrown.status !== 409) throw thrown;
        return deps.cluster.replace(K.Lease, renewed(await stillOurs(read, deps.identity), await serverNow(deps)));
      });
      goodAt = startedAt;
    } catch (thrown) {
      const gone = thrown instanceof Fault || (thrown instanceof ApiFailure && thrown.status === 404);
      if (gone) lose(thrown instanceof Fault ? thrown : takenAway('nobody'));
      else if (since() - goodAt >= GIVE_UP_MS) lose(notRenewed(thrown));
    }
  }
  function lose(why: Fault): void {
    stop();
    lost.abort(why);
  }
  const stop = (deps.repeat ?? repeatUnref)(RENEW_MS, () => {
    // A renewal that hangs must not hide that the time is up.
    if (running && since() - goodAt >= GIVE_UP_MS) lose(notRenewed(undefined));
    running ??= renew().finally(() => {
      running = undefined;
    });
  });
  async function release(): Promise<void> {
    stop();
    await running;
    if (lost.signal.aborted) return;
    const live = await read();
    if (live && specOf(live).holderIdentity === deps.identity) await deps.cluster.replace(K.Lease, released(live));
  }
  return { lost: lost.signal, release };
}

async function stillOurs(read: () => Promise<KubeObject | undefined>, identity: string): Promise<KubeObject> {
  const live = await read();
  if (live && specOf(live).holderIdentity === identity) return live;
  throw takenAway(holderOf(live)?.identity ?? 'nobody');
}

function takenAway(by: string): Fault {
  return new Fault('locked', `the lock was taken away during the run; it is now held by ${by}`, [
    'look who runs: kubectl netsvc-upgrade status',
  ]);
}

function notRenewed(cause: unknown): Fault {
  return new Fault('locked', `the lock could not be renewed for ${GIVE_UP_MS / 1000} s`, ['run again when the API server answers'], cause);
}

function repeatUnref(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  timer.unref();
  return () => clearInterval(timer);
}
