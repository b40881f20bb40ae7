import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { isInterrupted } from '../../kernel/interruption.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type Lock, type LockHold, type LockHolder } from '../../kernel/ports.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { look, text } from '../../kernel/step.ts';
import { OtherCluster } from '../kube/failure.ts';
import { currentHolder, freeLease, type LockDeps, locked, type SeenUnchanged, seenUnchanged, serverNow } from './free-lease.ts';
import { broken, GIVE_UP_MS, holderOf, LEASE_NAME, released, renewed, type Stopwatch, specOf, startStopwatch, taken } from './lease.ts';

const RENEW_MS = 15_000;

/**
 * One run per cluster, by a Lease; times are the server's, so that clocks of machines need not agree. Those of two API servers need not
 * either: a lease is taken from its holder only after this process has seen it unchanged for as long as it lasts.
 */
export function leaseLock(deps: LockDeps): Lock {
  const seen = seenUnchanged(deps);
  let last: KubeObject | undefined;
  const read = async () => {
    last = await deps.cluster.get(K.Lease, LEASE_NAME, STATE_NAMESPACE);
    seen.note(last);
    return last;
  };
  // Where there is no lease, one may have come and gone: not where there is no record either.
  const stateOf = async (lease: KubeObject | undefined) => (lease ? freeState(lease) : deps.recordState?.());
  /** As it was when the lease was first asked for. */
  let first: { readonly state: string | undefined } | undefined;
  return {
    identity: deps.identity,
    async holder() {
      const lease = await read();
      first ??= { state: await stateOf(lease) };
      return currentHolder(deps, lease, await serverNow(deps));
    },
    async left() {
      const isHeld = currentHolder(deps, last, await serverNow(deps)) !== undefined;
      const holder = isHeld ? undefined : holderOf(last);
      return holder && deps.isGone?.(holder.identity) ? undefined : holder;
    },
    async acquire() {
      const own = await take(deps, read, seen);
      const isUndisturbed = !own.hadOrphans && first?.state !== undefined && first.state === (await stateOf(own.before));
      return { ...keepRenewing(deps, read, own), isUndisturbed };
    },
    breakLock: (identity, renewedAt) => breakFrom(deps, read, { identity, renewedAt }),
  };
}

/** Which state of a lease that was given back. Undefined for one that has a holder, or was taken from one, however long ago that was. */
function freeState(lease: KubeObject): string | undefined {
  const { uid = '', resourceVersion = '' } = lease.metadata;
  return holderOf(lease) || specOf(lease).renewTime ? undefined : `${uid} ${resourceVersion}`;
}

interface Taken {
  /** What was replaced; the server refuses to replace another. */
  readonly before: KubeObject | undefined;
  readonly lease: KubeObject;
  /** The lease is not older than this. */
  readonly since: Stopwatch;
  readonly hadOrphans: boolean;
}

async function take(deps: LockDeps, read: () => Promise<KubeObject | undefined>, seen: SeenUnchanged): Promise<Taken> {
  const { cluster, identity } = deps;
  const before = await freeLease(deps, read, seen);
  // The lock is free, but its last holder's programs may still run. A run that is quicker meanwhile is a conflict below.
  const hadOrphans = (await deps.awaitOrphans?.(holderOf(before)?.identity)) === true;
  // Started before the lease is written, so that it never counts as younger than it is.
  const since = (deps.startStopwatch ?? startStopwatch)();
  const wanted = taken(before, identity, await serverNow(deps));
  try {
    const lease = before ? await cluster.replace(K.Lease, wanted) : await cluster.create(K.Lease, wanted);
    return { before, lease, since, hadOrphans };
  } catch (thrown) {
    // Both 409s: another run was quicker by a moment.
    if (!(thrown instanceof ApiFailure) || thrown.status !== 409) throw thrown;
    const quicker = holderOf(await read());
    throw quicker ? locked(quicker) : thrown;
  }
}

type Shown = Pick<LockHolder, 'identity'> & { readonly renewedAt: string | undefined };

async function breakFrom(deps: LockDeps, read: () => Promise<KubeObject | undefined>, shown: Shown): Promise<LockHolder | undefined> {
  const lease = await read();
  const holder = holderOf(lease);
  if (!lease || !holder) return undefined;
  if (holder.identity !== shown.identity) throw locked(holder);
  if (shown.renewedAt !== undefined && holder.renewedAt !== shown.renewedAt) throw alive(holder);
  try {
    await deps.cluster.replace(K.Lease, broken(lease));
    return holder;
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure) || (thrown.status !== 409 && thrown.status !== 404)) throw thrown;
    return breakFrom(deps, read, holder);
  }
}

/** Only a process that lives renews. */
function alive({ identity, renewedAt }: LockHolder): Fault {
  return new Fault('locked', `the lock was not released: ${identity} has just renewed it (${renewedAt}), so that run is at work`, [
    look(text`follow that run: ${command`kubectl netsvc-upgrade status --watch`}`),
    'to end it, press Ctrl-C in its terminal, or end its process; it then releases the lock itself',
  ]);
}

function keepRenewing(deps: LockDeps, read: () => Promise<KubeObject | undefined>, first: Taken): Omit<LockHold, 'isUndisturbed'> {
  const lost = new AbortController();
  let { lease, since } = first;
  let running: Promise<void> | undefined;
  const isTooOld = () => since() >= GIVE_UP_MS;
  async function renew(): Promise<void> {
    const attempt = (deps.startStopwatch ?? startStopwatch)();
    try {
      const next = renewed(lease, await serverNow(deps));
      lease = await deps.cluster.replace(K.Lease, next).catch(async (thrown: unknown) => {
        if (!(thrown instanceof ApiFailure) || thrown.status !== 409) throw thrown;
        return deps.cluster.replace(K.Lease, renewed(await stillOurs(read, deps.identity), await serverNow(deps)));
      });
      since = attempt;
    } catch (thrown) {
      // A renewal that Ctrl-C interrupted says nothing about the lock.
      if (isInterrupted(thrown)) return;
      const final = finalLoss(thrown);
      if (final) lose(final);
      else if (isTooOld()) lose(notRenewed(thrown));
    }
  }
  function lose(why: Fault): void {
    stop();
    lost.abort(why);
  }
  const stop = (deps.repeat ?? repeatUnref)(RENEW_MS, () => {
    // A renewal that hangs must not hide that the time is up.
    if (running && isTooOld()) lose(notRenewed(undefined));
    running ??= renew().finally(() => {
      running = undefined;
    });
  });
  const isOurs = (live: KubeObject | undefined): live is KubeObject => live !== undefined && specOf(live).holderIdentity === deps.identity;
  async function release(): Promise<void> {
    stop();
    await running;
    if (lost.signal.aborted) return;
    deps.cluster.writeWhile?.(undefined);
    const live = await read();
    if (!isOurs(live)) return;
    await deps.cluster.replace(K.Lease, released(live)).catch(async (thrown: unknown) => {
      // The answer may be lost, and the lock given back all the same; or somebody else has taken it.
      if (isOurs(await read())) throw thrown;
    });
  }
  function isHeld(): boolean {
    // A process that was stopped, or slept with its machine, runs this before its timers and requests.
    if (!lost.signal.aborted && isTooOld()) lose(notRenewed(undefined));
    return !lost.signal.aborted;
  }
  deps.cluster.writeWhile?.(() => {
    if (!isHeld()) throw lost.signal.reason;
  });
  return { lost: lost.signal, isHeld, release };
}

async function stillOurs(read: () => Promise<KubeObject | undefined>, identity: string): Promise<KubeObject> {
  const live = await read();
  if (live && specOf(live).holderIdentity === identity) return live;
  throw takenAway(holderOf(live)?.identity ?? 'nobody');
}

/** What no later renewal can fix. Anything else is tried again while the lease is surely ours: a credential plugin may fail once. */
function finalLoss(thrown: unknown): Fault | undefined {
  if (thrown instanceof OtherCluster || (thrown instanceof Fault && thrown.code === 'locked')) return thrown;
  return thrown instanceof ApiFailure && thrown.status === 404 ? takenAway('nobody') : undefined;
}

function takenAway(by: string): Fault {
  return new Fault('locked', `the lock was taken away during the run; it is now held by ${by}`, [
    look(text`look who runs: ${command`kubectl netsvc-upgrade status`}`),
  ]);
}

function notRenewed(cause: unknown): Fault {
  const [why, next] = cause instanceof Fault ? [`: ${cause.message}`, cause.steps] : ['', ['run again when the API server answers']];
  return new Fault('locked', `the lock could not be renewed for ${GIVE_UP_MS / 1000} s${why}`, next, cause);
}

function repeatUnref(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  timer.unref();
  return () => clearInterval(timer);
}
