import { holderOf, isFree, LEASE_NAME, LEASE_SECONDS } from '../../src/adapters/lock/lease.ts';
import { leaseLock } from '../../src/adapters/lock/lock.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Cluster, Lock } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { announcing } from './guarded-cluster.ts';

const SPACE = 'kube-system';
/** After so long without a renewal a lease is free; milliseconds. */
export const RUN_OUT_MS = (LEASE_SECONDS + 1) * 1000;

/** Who runs the program. Those of one machine know of each other which are gone. */
export interface Runner {
  readonly identity: string;
  readonly isGone: (identity: string) => boolean;
}

/** One process after the other on one machine: whoever had the lock before is gone. */
export const sameMachine = (identity: string): Runner => ({ identity, isGone: () => true });

/** On another machine, from which nobody can see whether a holder still lives. */
export const elsewhere = (identity: string): Runner => ({ identity, isGone: (holder) => holder === identity });

/** The program's own lock, a Lease of the sandbox; it is renewed and grows old by the virtual clock. */
export function sandboxLock({ clock }: Scenario, cluster: Cluster, { identity, isGone }: Runner): Lock {
  const now = () => clock.now().getTime();
  return leaseLock({
    cluster,
    clock,
    identity,
    isGone,
    pause: (ms) => clock.sleep(ms),
    startStopwatch: () => {
      const started = now();
      return () => now() - started;
    },
    repeat: (ms, task) => {
      let cancel = (): void => undefined;
      const next = () => {
        cancel = clock.schedule(ms, () => {
          next();
          task();
        });
      };
      next();
      return () => cancel();
    },
  });
}

/** The Lease as the sandbox has it; nothing if there is none. */
export const storedLease = ({ cluster: { store } }: Scenario): KubeObject | undefined => store.get(K.Lease, LEASE_NAME, SPACE);

/** Who holds the lock by the Lease and the clock. */
export function lockHolder(scenario: Scenario): string | undefined {
  const lease = storedLease(scenario);
  return lease && !isFree(lease, scenario.clock.now().getTime()) ? holderOf(lease)?.identity : undefined;
}

/**
 * The cluster as one runner writes to it: whatever is to be stored while this runner does not hold the lock is noted in `found`.
 * Where nothing ever is, two never write at once, for a Lease has one holder.
 */
export function onlyUnderLock(cluster: Cluster, scenario: Scenario, { identity }: Runner, found: string[]): Cluster {
  return announcing(cluster, ['patch', 'create', 'replace', 'remove'], (verb, kind, { name }) => {
    const holder = lockHolder(scenario);
    if (kind !== K.Lease && holder !== identity)
      found.push(`${identity}: ${verb} ${kind.plural}/${name}, the lock is with ${holder ?? 'nobody'}`);
  });
}
