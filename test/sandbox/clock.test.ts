import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { virtualClock } from '../../src/sandbox/clock.ts';

const start = new Date('2026-01-01T00:00:00Z');

describe('the virtual clock', () => {
  it('runs what is due while somebody sleeps, in order, and each at its own time', async () => {
    const clock = virtualClock({ start });
    const told: string[] = [];
    const tell = (name: string) => told.push(`${name} ${clock.now().getTime() - start.getTime()}`);
    clock.schedule(3000, () => tell('late'));
    clock.schedule(1000, () => {
      tell('early');
      clock.schedule(500, () => tell('later on'));
    });
    clock.schedule(9000, () => tell('never'));
    clock.schedule(2000, () => tell('called off'))();
    await clock.sleep(5000);
    tell('awake');
    assert.deepEqual(told, ['early 1000', 'later on 1500', 'late 3000', 'awake 5000']);
  });

  it('stands still while nobody sleeps', async () => {
    const clock = virtualClock({ start });
    clock.schedule(1, () => assert.fail('nobody waits for it'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(clock.now(), start);
  });

  it('throws the error of a task to all who sleep, and goes on for whoever sleeps next', async () => {
    const clock = virtualClock({ start });
    clock.schedule(1000, () => {
      throw new Error('it broke');
    });
    const sleepers = await Promise.allSettled([clock.sleep(2000), clock.sleep(3000)]);
    assert.deepEqual(
      sleepers.map((one) => one.status === 'rejected' && one.reason.message),
      ['it broke', 'it broke'],
    );
    await clock.sleep(500);
    assert.equal(clock.now().getTime() - start.getTime(), 1500);
  });

  it('wakes a sleeper whose signal aborts, without letting the time pass', async () => {
    const clock = virtualClock({ start });
    const end = new AbortController();
    const sleeping = clock.sleep(60_000, end.signal);
    end.abort(new Error('enough'));
    await assert.rejects(sleeping, /enough/);
    await assert.rejects(clock.sleep(1, end.signal), /enough/);
    assert.deepEqual(clock.now(), start);
  });

  it('stands still while a file is read', async () => {
    const clock = virtualClock({ start });
    let reads = true;
    const ticks = (async () => {
      while (reads) await clock.sleep(1000);
    })();
    for (let times = 0; times < 20; times += 1) await readFile(import.meta.filename);
    reads = false;
    const took = clock.now().getTime() - start.getTime();
    await ticks;
    assert.ok(took <= 20_000, `${took} ms for 20 reads of a file`);
  });
});
