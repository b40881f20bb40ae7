import assert from 'node:assert/strict';
import { OtherCluster } from '../../../src/adapters/kube/failure.ts';
import { LEASE_NAME } from '../../../src/adapters/lock/lease.ts';
import { leaseLock } from '../../../src/adapters/lock/lock.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { interrupted } from '../../../src/kernel/interruption.ts';
import { K } from '../../../src/kernel/kinds.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { STATE_NAMESPACE } from '../../../src/kernel/run-record.ts';
import { type MemoryCluster, memoryCluster } from '../../support/memory-cluster.ts';

const START = Date.parse('2026-11-20T10:00:00Z');

/** Two runs on one cluster; time passes only when told, renewals run when told. */
function ground() {
  const memory = memoryCluster();
  let now = START;
  let paused = 0;
  let sinceRenewal = 0;
  const tasks = new Set<() => void>();
  /** `serverOffMs`: its API server's clock is off by so much. */
  const lockOf = (identity: string, clockOffMs = 0, writeWhile: (mustHold?: () => void) => void = () => undefined, serverOffMs = 0) =>
    leaseLock({
      cluster: { ...memory.cluster, clockSkewMs: async () => (await memory.cluster.clockSkewMs()) - clockOffMs + serverOffMs, writeWhile },
      clock: { now: () => new Date(now + clockOffMs) },
      startStopwatch: () => {
        const started = now;
        return () => now - started;
      },
      identity,
      pause: (ms) => {
        paused += ms;
        return pass(ms / 1000);
      },
      repeat: (_ms, task) => {
        tasks.add(task);
        return () => tasks.delete(task);
      },
    });
  /** Lets seconds pass, a renewal every 15 of them. */
  async function pass(seconds: number) {
    for (let left = seconds; left > 0; left -= 15) {
      now += Math.min(15, left) * 1000;
      sinceRenewal += Math.min(15, left);
      if (sinceRenewal >= 15) {
        sinceRenewal = 0;
        for (const task of tasks) task();
      }
      await settle();
    }
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    memory,
    lockOf,
    tasks,
    settle,
    /** The process is stopped, or its machine sleeps: time passes, and no timer of it runs. */
    sleep(seconds: number) {
      now += seconds * 1000;
    },
    pass,
    /** Seconds that runs have waited to see whether a lease changes. */
    paused: () => paused / 1000,
  };
}

const depsOf = ({ cluster }: MemoryCluster) => ({ cluster, clock: { now: () => new Date(START) } });

const isLocked = (thrown: unknown): thrown is Fault => thrown instanceof Fault && thrown.code === 'locked';

describe('the lock', () => {
  it('is held by one run, and tells the other who holds it and how to go on', async () => {
    const { lockOf } = ground();
    await lockOf('alice@a/1/run').acquire();
    await assert.rejects(lockOf('bob@b/2/run').acquire(), (thrown) => {
      assert.ok(isLocked(thrown) && thrown instanceof Fault);
      assert.match(thrown.message, /alice@a\/1\/run has held the lock since 2026-11-20T10:00:00\.000000Z/);
      assert.match(thrown.suggestions.join(), /kubectl netsvc-upgrade unlock/);
      return true;
    });
    assert.equal((await lockOf('bob').holder())?.identity, 'alice@a/1/run');
  });

  it('is free after a release, for anybody', async () => {
    const { lockOf, tasks } = ground();
    const { release } = await lockOf('alice').acquire();
    await release();
    assert.equal(await lockOf('bob').holder(), undefined);
    assert.equal(tasks.size, 0);
    await lockOf('bob').acquire();
  });

  it('tells whether no other run had it since its holder was first asked for', async () => {
    const { lockOf } = ground();
    const alice = lockOf('alice');
    assert.equal((await alice.acquire()).isUndisturbed, false, 'it was never asked for');
    const dead = lockOf('bob');
    await dead.holder();
    await lockOf('alice').breakLock('alice');
    const taken = await dead.acquire();
    assert.equal(taken.isUndisturbed, false, 'another run had it at first');
    await taken.release();
    const [quiet, late] = [lockOf('quiet'), lockOf('late')];
    assert.deepEqual([await quiet.holder(), await late.holder()], [undefined, undefined]);
    const held = await quiet.acquire();
    assert.equal(held.isUndisturbed, true);
    await held.release();
    assert.equal(await late.holder(), undefined, 'asked for again, it is another one');
    assert.equal((await late.acquire()).isUndisturbed, false, 'another run had it between');
  });

  it('is not undisturbed where it was taken from its holder, whose programs may have written until now', async () => {
    const { lockOf } = ground();
    await lockOf('killed').acquire();
    await lockOf('operator').breakLock('killed');
    const next = lockOf('next');
    assert.equal(await next.holder(), undefined);
    const held = await next.acquire();
    assert.equal(held.isUndisturbed, false);
    await held.release();
    const later = lockOf('later');
    await later.holder();
    assert.equal((await later.acquire()).isUndisturbed, true, 'the next run has given it back');
  });

  it('is undisturbed where there was no lease, if no run has written its record meanwhile', async () => {
    const record: { state: string | undefined } = { state: 'none' };
    const cases: readonly [typeof record.state, boolean][] = [
      ['none', true],
      ['uid 1', false],
      [undefined, false],
    ];
    for (const [state, isUndisturbed] of cases) {
      const { memory, lockOf } = ground();
      record.state = 'none';
      const own = leaseLock({ ...depsOf(memory), identity: 'own', recordState: async () => record.state });
      assert.equal(await own.holder(), undefined);
      // Another run, whose lease somebody deletes.
      await (await lockOf('other').acquire()).release();
      memory.objects.delete(`${STATE_NAMESPACE}/${LEASE_NAME}`);
      record.state = state;
      assert.equal((await own.acquire()).isUndisturbed, isUndisturbed, state);
    }
  });

  it('is not undisturbed where there was no lease at first, and there is one now', async () => {
    const { memory, lockOf } = ground();
    const own = leaseLock({ ...depsOf(memory), identity: 'own', recordState: async () => 'none' });
    assert.equal(await own.holder(), undefined);
    await (await lockOf('other').acquire()).release();
    assert.equal((await own.acquire()).isUndisturbed, false);
  });

  it('counts as given back where only the answer was lost, and not where nothing was written', async () => {
    const { lockOf, memory } = ground();
    const { replace } = memory.cluster;
    let isStored = false;
    const cutOff: typeof replace = async (...args) => {
      if (isStored) await replace(...args);
      throw new ApiFailure(0, 'ECONNRESET', 'the connection was reset');
    };
    Object.assign(memory.cluster, { replace: cutOff });
    const { release } = await lockOf('alice').acquire();
    await assert.rejects(release(), /was reset/);
    assert.equal((await lockOf('bob').holder())?.identity, 'alice');
    isStored = true;
    await release();
    assert.equal(await lockOf('bob').holder(), undefined);
  });

  it('is free at once if its holder certainly no longer runs', async () => {
    const { lockOf, memory } = ground();
    await lockOf('dead@here').acquire();
    const clock = { now: () => new Date(START) };
    const knowing = leaseLock({
      cluster: memory.cluster,
      clock,
      identity: 'next',
      isGone: (identity) => identity === 'dead@here',
    });
    assert.equal(await knowing.holder(), undefined);
    await knowing.acquire();
    assert.equal((await lockOf('bob').holder())?.identity, 'next');
  });

  it('stays with a run that renews it', async () => {
    const { lockOf, pass } = ground();
    const { lost } = await lockOf('alice').acquire();
    await pass(600);
    await assert.rejects(lockOf('bob').acquire(), isLocked);
    assert.equal(lost.aborted, false);
  });

  it('is taken over once 60 s have passed without a renewal, and not before', async () => {
    const { lockOf, pass, tasks, paused } = ground();
    await lockOf('alice').acquire();
    tasks.clear();
    await pass(60);
    await assert.rejects(lockOf('bob').acquire(), isLocked);
    assert.equal(paused(), 0);
    await pass(1);
    await lockOf('bob').acquire();
    assert.equal((await lockOf('bob').holder())?.identity, 'bob');
    assert.equal(paused(), 60, 'only what this process has seen for so long without a change is over');
  });

  it('is waited for only as long as this process has not yet seen it unchanged', async () => {
    const { lockOf, pass, tasks, paused } = ground();
    await lockOf('alice').acquire();
    tasks.clear();
    const bob = lockOf('bob');
    assert.equal((await bob.holder())?.identity, 'alice');
    await pass(61);
    await bob.acquire();
    assert.equal(paused(), 0);
  });

  it('is not taken from a holder whose API server has a clock that is minutes behind', async () => {
    const { lockOf, pass, paused } = ground();
    const { lost } = await lockOf('alice', 0, undefined, -600_000).acquire();
    await pass(30);
    await assert.rejects(lockOf('bob').acquire(), isLocked);
    assert.ok(paused() <= 20, 'its next renewal tells');
    assert.equal(lost.aborted, false);
  });

  it('goes by the clock of the server, not by those of the machines', async () => {
    const { lockOf } = ground();
    await lockOf('alice', -3_600_000).acquire();
    await assert.rejects(lockOf('bob', 3_600_000).acquire(), isLocked);
  });

  it('that ran out is left by its holder, who may live elsewhere, until it is given back or released', async () => {
    const { lockOf, sleep } = ground();
    await lockOf('alice').acquire();
    const bob = lockOf('bob');
    const told = async () => [(await bob.holder())?.identity, (await bob.left())?.identity];
    assert.deepEqual(await told(), ['alice', undefined]);
    sleep(61);
    assert.deepEqual(await told(), [undefined, 'alice']);
    await bob.breakLock('alice');
    assert.deepEqual(await told(), [undefined, undefined]);
  });

  it('goes to one of two runs that take it in the same moment', async () => {
    const { lockOf, memory } = ground();
    const other = lockOf('alice');
    memory.between = async () => {
      await other.acquire();
    };
    await assert.rejects(lockOf('bob').acquire(), isLocked);
    assert.equal((await other.holder())?.identity, 'alice');
  });

  it('is not taken from a holder who renews it meanwhile, nor from the next one, and a lease that changed otherwise is no reason', async () => {
    const { lockOf, pass, memory } = ground();
    const { release } = await lockOf('alice').acquire();
    const shown = await lockOf('bob').holder();
    const breaks = () => lockOf('bob').breakLock('alice', shown?.renewedAt);
    const lease = () => memory.cluster.get(K.Lease, LEASE_NAME, STATE_NAMESPACE).then((live) => live ?? assert.fail());
    const touch = async () => void (await memory.cluster.replace(K.Lease, await lease()));
    const isAlive = (thrown: unknown) => isLocked(thrown) && /not released: alice has just renewed it/.test(thrown.message);
    memory.between = () => pass(15);
    await assert.rejects(breaks(), isAlive, 'between the look and the write');
    await assert.rejects(breaks(), isAlive, 'between what was shown and the look');
    memory.between = release;
    assert.equal(await lockOf('bob').breakLock('alice'), undefined, 'given back meanwhile');
    const carol = await lockOf('carol').acquire();
    memory.between = touch;
    assert.equal((await lockOf('bob').breakLock('carol'))?.identity, 'carol');
    await carol.release();
  });

  it('is lost when another holder appears', async () => {
    const { lockOf, pass } = ground();
    const { lost, release } = await lockOf('alice').acquire();
    await assert.rejects(lockOf('bob').breakLock('carol'), isLocked, 'not the holder that was shown');
    assert.equal((await lockOf('bob').breakLock('alice'))?.identity, 'alice');
    await lockOf('bob').acquire();
    await pass(15);
    assert.ok(isLocked(lost.reason));
    assert.match(lost.reason.message, /now held by bob/);
    await release();
    assert.equal((await lockOf('x').holder())?.identity, 'bob');
  });

  it('is lost when it could not be renewed for 45 s, before another run may take it', async () => {
    const { lockOf, pass, memory } = ground();
    const { lost } = await lockOf('alice').acquire();
    memory.away = new ApiFailure(0, 'ECONNREFUSED', 'no answer');
    await pass(30);
    assert.equal(lost.aborted, false);
    await pass(15);
    assert.ok(isLocked(lost.reason));
  });

  it('is not lost by a renewal that Ctrl-C cut off, and can be given back after it', async () => {
    const { lockOf, pass, memory } = ground();
    const { lost, release } = await lockOf('alice').acquire();
    memory.away = interrupted();
    await pass(15);
    assert.equal(lost.aborted, false);
    memory.away = undefined;
    await release();
    assert.equal(await lockOf('bob').holder(), undefined);
  });

  it('is not lost by a credential plugin that fails once, and is where it fails for 45 s, with its own next step', async () => {
    const { lockOf, pass, memory } = ground();
    const { lost, isHeld } = await lockOf('alice').acquire();
    memory.away = new Fault('failed', 'credential plugin aws failed: exit 1', ['log in again']);
    await pass(15);
    memory.away = undefined;
    await pass(45);
    assert.equal(isHeld(), true);
    assert.equal(lost.aborted, false);
    memory.away = new Fault('failed', 'credential plugin aws failed: exit 1', ['log in again']);
    await pass(30);
    assert.equal(lost.aborted, false);
    await pass(15);
    assert.ok(isLocked(lost.reason));
    assert.match(lost.reason.message, /could not be renewed for 45 s: credential plugin aws failed/);
    assert.deepEqual(lost.reason.suggestions, ['log in again']);
  });

  it('is lost while a renewal hangs without an answer', async () => {
    const { lockOf, pass, memory } = ground();
    const { lost } = await lockOf('alice').acquire();
    memory.between = () => new Promise(() => undefined);
    await pass(30);
    assert.equal(lost.aborted, false);
    await pass(15);
    assert.ok(isLocked(lost.reason));
  });

  it('is lost at once where another cluster answers', async () => {
    const { lockOf, pass, memory } = ground();
    const { lost } = await lockOf('alice').acquire();
    memory.away = new OtherCluster('one', 'two', 'here');
    await pass(15);
    assert.match(lost.reason.message, /another cluster/);
  });

  it('is lost when somebody deletes it', async () => {
    const { lockOf, pass, memory } = ground();
    const { lost } = await lockOf('alice').acquire();
    memory.objects.clear();
    await pass(15);
    assert.ok(isLocked(lost.reason));
  });

  it('is not taken from its next holder by the release of one that slept', async () => {
    const { lockOf, sleep, tasks } = ground();
    const { release } = await lockOf('alice').acquire();
    sleep(61);
    tasks.clear();
    await lockOf('bob').acquire();
    await release();
    assert.equal((await lockOf('x').holder())?.identity, 'bob');
  });

  it('is free where it does not say when it was renewed', async () => {
    const { lockOf, memory, tasks } = ground();
    await lockOf('alice').acquire();
    tasks.clear();
    for (const [key, lease] of memory.objects) memory.objects.set(key, { ...lease, spec: { ...(lease.spec as object), renewTime: '' } });
    await lockOf('bob').acquire();
    assert.equal((await lockOf('x').holder())?.identity, 'bob');
  });

  it('outlives a short outage and a conflict of its own making', async () => {
    const { lockOf, pass, memory } = ground();
    const { lost } = await lockOf('alice').acquire();
    memory.away = new ApiFailure(503, 'ServiceUnavailable', 'later');
    await pass(30);
    memory.away = undefined;
    for (const [key, object] of memory.objects)
      memory.objects.set(key, { ...object, metadata: { ...object.metadata, resourceVersion: '99' } });
    await pass(60);
    assert.equal(lost.aborted, false);
    assert.equal((await lockOf('x').holder())?.identity, 'alice');
  });

  it('is not held any more by a process that slept past 45 s, before any timer of it has run', async () => {
    const { lockOf, sleep } = ground();
    const hold = await lockOf('alice').acquire();
    sleep(44);
    assert.equal(hold.isHeld(), true);
    sleep(1);
    assert.equal(hold.isHeld(), false);
    assert.ok(isLocked(hold.lost.reason), 'waits and programs end with it');
  });

  it('lets the program write only while it is held, and does not ask for it once it is given back', async () => {
    const { lockOf, sleep } = ground();
    const asked: ((() => void) | undefined)[] = [];
    const { release, isHeld } = await lockOf('alice', 0, (mustHold) => asked.push(mustHold)).acquire();
    asked.at(-1)?.();
    await release();
    assert.deepEqual([asked.length, asked.at(-1), isHeld()], [2, undefined, true]);
    await lockOf('bob', 0, (mustHold) => asked.push(mustHold)).acquire();
    sleep(46);
    assert.throws(() => asked.at(-1)?.(), isLocked);
  });

  it('is still held after a sleep that a renewal has bridged', async () => {
    const { lockOf, sleep, tasks, settle } = ground();
    const hold = await lockOf('alice').acquire();
    sleep(50);
    for (const task of tasks) task();
    await settle();
    assert.equal(hold.isHeld(), true, 'the lease was still ours, which only its renewal can prove');
    sleep(44);
    assert.equal(hold.isHeld(), true);
  });

  it('counts its age from the start of a renewal, not from its answer', async () => {
    const { lockOf, sleep, tasks, settle, memory } = ground();
    const hold = await lockOf('alice').acquire();
    sleep(15);
    memory.between = () => sleep(40);
    for (const task of tasks) task();
    await settle();
    sleep(4);
    assert.equal(hold.isHeld(), true);
    sleep(1);
    assert.equal(hold.isHeld(), false);
  });

  describe('after a run that was killed', () => {
    const next = (awaitOrphans: (lastHolder: string | undefined) => Promise<unknown>) => {
      const { memory, lockOf } = ground();
      const lock = leaseLock({
        cluster: memory.cluster,
        clock: { now: () => new Date(START) },
        identity: 'next',
        isGone: (identity) => identity === 'dead@here',
        awaitOrphans: async (lastHolder) => (await awaitOrphans(lastHolder)) === true,
      });
      return { lock, lockOf, memory };
    };

    it('is taken only when nothing that it had started is left', async () => {
      let asked = 0;
      const { lock, lockOf, memory } = next(async (lastHolder) => {
        asked += 1;
        assert.equal(lastHolder, 'dead@here', 'it may only be stopped: its own programs count as well');
        assert.equal((await lockOf('x').holder())?.identity, 'dead@here', 'the lease is not written before');
      });
      await lockOf('dead@here').acquire();
      const writes = memory.writes;
      await lock.acquire();
      assert.deepEqual([asked, memory.writes - writes], [1, 1]);
    });

    it('looks for what is left also where the last run gave the lock back', async () => {
      const asked: (string | undefined)[] = [];
      const { lock, lockOf } = next(async (lastHolder) => void asked.push(lastHolder));
      await (await lockOf('alice').acquire()).release();
      await lock.acquire();
      assert.deepEqual(asked, [undefined]);
    });

    it('does not count as undisturbed where something was left that might still write', async () => {
      for (const hadOrphans of [true, false]) {
        const { lock, lockOf } = next(async () => hadOrphans);
        await (await lockOf('alice').acquire()).release();
        await lock.holder();
        assert.equal((await lock.acquire()).isUndisturbed, !hadOrphans);
      }
    });

    it('is not taken where something does not end', async () => {
      const { lock, lockOf } = next(() => Promise.reject(new Fault('locked', 'kubectl still writes', [])));
      await lockOf('dead@here').acquire();
      await assert.rejects(lock.acquire(), isLocked);
      assert.equal((await lockOf('x').holder())?.identity, 'dead@here');
    });

    it('goes to the run that was quicker while this one waited', async () => {
      const { lock, lockOf } = next(async () => {
        await lockOf('quicker').breakLock('dead@here');
        await lockOf('quicker').acquire();
      });
      await lockOf('dead@here').acquire();
      await assert.rejects(lock.acquire(), isLocked);
      assert.equal((await lockOf('x').holder())?.identity, 'quicker');
    });
  });
});
