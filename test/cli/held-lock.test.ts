import assert from 'node:assert/strict';
import { RECORD } from '../fixtures/stored-record.ts';
import { applies, commandBench, fakeStage } from '../support/command-bench.ts';
import { CLUSTER_UID } from '../support/engine-ports.ts';

const HOLDER = { identity: 'anna@host-1/17/run-1', acquiredAt: '2026-11-21T01:56:00Z', renewedAt: '2026-11-21T01:59:55Z' };

/** A cluster where another run is at work; its lock is given back after so many looks. */
function heldBench(looks = Number.POSITIVE_INFINITY) {
  const surveyed: string[] = [];
  const apply = fakeStage('apply', { plan: applies('a.yaml') });
  const bench = commandBench([
    {
      ...apply,
      open: (...asked) => {
        surveyed.push('apply');
        return apply.open(...asked);
      },
    },
    fakeStage('wait', { readOnly: true }),
  ]);
  let looked = 0;
  Object.assign(bench.engine.ports.lock, { holder: async () => (looked++ < looks ? HOLDER : undefined) });
  const stages = [{ id: 'apply', state: 'running', startedAt: '2026-11-21T01:57:00Z' }] as const;
  bench.engine.stored = { ...RECORD, runId: 'run-1', clusterUid: CLUSTER_UID, wrote: ['apply'], stages };
  return { bench, surveyed };
}

describe('a run beside another one', () => {
  it('is told before anything is looked at: who, since when, on which host, at which stage, how to follow and then to unlock', async () => {
    const { bench, surveyed } = heldBench();
    assert.equal(await bench.run('run', '--yes', '--context=prod'), 6);
    assert.deepEqual(surveyed, []);
    assert.deepEqual(bench.err().trimEnd().split('\n'), [
      'error: anna on host host-1 (process 17) has held the lock for 4m, at stage apply; nothing was changed by this command',
      'follow that run: kubectl netsvc-upgrade status --watch --context=prod',
      'unlock only when that process has ended (of two runs at once, one stops halfway with exit 7): kubectl netsvc-upgrade unlock --context=prod',
    ]);
  });

  it('does not hinder what only looks', async () => {
    assert.equal(await heldBench().bench.run('wait'), 0);
    assert.equal(await heldBench().bench.run('run', '--dry-run=server'), 0);
  });
});

describe('a lock that ran out and was not given back', () => {
  const leftBench = () => {
    const { bench } = heldBench(0);
    const released: string[] = [];
    const breakLock = async (identity: string) => {
      released.push(identity);
      return HOLDER;
    };
    Object.assign(bench.engine.ports.lock, { left: async () => (released.length === 0 ? HOLDER : undefined), breakLock });
    return { bench, released };
  };
  const LINE =
    /^lock: not given back by anna@host-1\/17\/run-1, renewed \S+ ago: the next run watches it for up to 60 s before it takes it$/m;

  it('is not free to status, which says who left it and how to release it', async () => {
    const { bench } = leftBench();
    assert.equal(await bench.run('status'), 0);
    assert.match(bench.out(), LINE);
    assert.match(bench.out(), /^ +unlock only when that process has ended .*: kubectl netsvc-upgrade unlock$/m);
    assert.doesNotMatch(bench.out(), /lock: free/);
  });

  it('is released by unlock', async () => {
    const { bench, released } = leftBench();
    assert.equal(await bench.run('unlock', '--yes'), 0);
    assert.match(bench.err(), LINE);
    assert.match(bench.out(), /lock of anna@host-1\/17\/run-1 released/);
    assert.deepEqual(released, [HOLDER.identity]);
  });
});

describe('status --watch', () => {
  it('says each stage once as it goes, and ends with the status when the lock is free', async () => {
    const { bench } = heldBench(3);
    assert.equal(await bench.run('status', '--watch'), 0);
    assert.deepEqual(bench.err().trimEnd().split('\n').slice(0, 2), [
      'anna on host host-1 (process 17) began 4m ago',
      'apply: running, began 3m ago',
    ]);
    assert.match(bench.err(), /^apply: interrupted, began 3m ago: its command was killed, /m);
    assert.match(bench.out(), /^lock: free$/m);
  });

  it('says that there is none to follow where the lock is free', async () => {
    const { bench } = heldBench(0);
    assert.equal(await bench.run('status', '--watch'), 0);
    assert.equal(bench.err(), 'no run is at work: nobody holds the lock\n');
  });

  it('is where status leads while a run is at work, with the way to unlock a dead one', async () => {
    const { bench } = heldBench();
    await bench.run('status', '--context=prod');
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade status --watch --context=prod\n$/);
    assert.match(
      bench.out(),
      /unlock only when that process has ended \(of two runs at once, one stops halfway with exit 7\): kubectl netsvc-upgrade unlock --context=prod$/m,
    );
  });
});
