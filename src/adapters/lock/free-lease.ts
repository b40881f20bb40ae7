import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../../kernel/command.ts';
import { Fault, unlockOnce } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Clock, Cluster, LockHolder } from '../../kernel/ports.ts';
import { look, text } from '../../kernel/step.ts';
import type { OpenCluster } from '../kube/cluster.ts';
import { holderOf, isFree, LEASE_SECONDS, type Stopwatch, startStopwatch } from './lease.ts';

export interface LockDeps {
  readonly cluster: Cluster & Partial<Pick<OpenCluster, 'writeWhile'>>;
  readonly clock: Pick<Clock, 'now'>;
  /** `user@host/pid/run id`. */
  readonly identity: string;
  /** True if that holder certainly no longer runs (a process of this machine that is gone): its lock is free at once. */
  readonly isGone?: (identity: string) => boolean;
  /**
   * Resolves when no program of an ended run can write to the cluster any more, to whether one could; throws Fault to refuse. `lastHolder`
   * lost the lock without releasing it: its process may be stopped while its program runs.
   */
  readonly awaitOrphans?: (lastHolder: string | undefined) => Promise<boolean>;
  /** Something only where no run has ever written: each writes its record before anything else. */
  readonly recordState?: () => Promise<string | undefined>;
  readonly startStopwatch?: () => Stopwatch;
  /** Waits for `ms` milliseconds; throws Fault('interrupted') at Ctrl-C. */
  readonly pause?: (ms: number) => Promise<void>;
  /** Tells the user what is waited for. */
  readonly say?: (text: string) => void;
  /** Calls `task` every `ms`, without keeping the process alive, until stopped. */
  readonly repeat?: (ms: number, task: () => void) => () => void;
}

/** A holder that is an ended process of this machine does not count: its lock need not expire first. */
export function currentHolder({ isGone }: LockDeps, lease: KubeObject | undefined, now: number): LockHolder | undefined {
  const holder = lease && !isFree(lease, now) ? holderOf(lease) : undefined;
  return holder && isGone?.(holder.identity) ? undefined : holder;
}

export async function serverNow({ cluster, clock }: LockDeps): Promise<number> {
  const skew = await cluster.clockSkewMs();
  return clock.now().getTime() + skew;
}

/** How long this process knows of no change of the lease. */
export interface SeenUnchanged {
  note(lease: KubeObject | undefined): void;
  /** Milliseconds since the lease was first read as it is. */
  forMs(): number;
}

export function seenUnchanged({ startStopwatch: start = startStopwatch }: LockDeps): SeenUnchanged {
  let version: string | undefined;
  let since: Stopwatch = () => 0;
  return {
    note(lease) {
      const now = versionOf(lease);
      if (now === version) return;
      version = now;
      since = start();
    },
    forMs: () => since(),
  };
}

const versionOf = (lease: KubeObject | undefined): string | undefined => lease && `${lease.metadata.uid} ${lease.metadata.resourceVersion}`;

/** Between two looks at a lease that may be renewed. */
const LOOK_MS = 5_000;

/** Resolves to the lease once nobody holds it: what a holder does not renew for as long as it lasts is over. Throws Fault('locked'). */
export async function freeLease(
  deps: LockDeps,
  read: () => Promise<KubeObject | undefined>,
  seen: SeenUnchanged,
): Promise<KubeObject | undefined> {
  const first = await read();
  for (let lease = first; ; lease = await read()) {
    const [last, holder] = [holderOf(lease), currentHolder(deps, lease, await serverNow(deps))];
    if (holder) throw locked(holder);
    if (!last || deps.isGone?.(last.identity)) return lease;
    // Whatever the times say: it has been renewed just now.
    if (versionOf(lease) !== versionOf(first)) throw locked(last);
    const leftMs = LEASE_SECONDS * 1000 - seen.forMs();
    if (leftMs <= 0) return lease;
    if (lease === first)
      deps.say?.(`waiting for ${Math.ceil(leftMs / 1000)} s to see whether ${last.identity}, which held the lock last, renews it`);
    await (deps.pause ?? sleep)(Math.min(leftMs, LOOK_MS));
  }
}

export function locked(holder: LockHolder): Fault {
  return new Fault('locked', `${holder.identity} has held the lock since ${holder.acquiredAt}, renewed ${holder.renewedAt}`, [
    look(text`wait until that run ends: ${command`kubectl netsvc-upgrade status`}`),
    unlockOnce(),
  ]);
}
