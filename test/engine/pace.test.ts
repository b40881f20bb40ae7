import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { Pace, type PaceLimits } from '../../src/engine/pace.ts';
import { steppingClock } from '../support/operator-script.ts';

/** As many answers as are judged together. */
const WINDOW = 32;

function paced(limits: PaceLimits = {}) {
  const clock = steppingClock();
  const pace = new Pace(clock, limits);
  return {
    clock,
    pace,
    /** So many windows of answers that took this long each. */
    async answers(windows: number, tookMs: number): Promise<void> {
      for (let number = 0; number < windows * WINDOW; number += 1) {
        await pace.enter();
        pace.leave(tookMs);
      }
    },
  };
}

describe('how many requests are in flight', () => {
  it('grows to the widest as long as answers come in time, however long they take', async () => {
    for (const tookMs of [5, 80, 900]) {
      const { pace, answers } = paced();
      await answers(10, tookMs);
      assert.equal(pace.width, pace.widest, `${tookMs} ms`);
    }
  });

  it('falls while answers are slow', async () => {
    const { pace, answers } = paced();
    await answers(10, 80);
    await answers(3, 1_500);
    assert.ok(pace.width < 16, `${pace.width}`);
    await answers(20, 1_500);
    assert.equal(pace.width, 1);
  });

  it('is the widest again after a slow moment, though one at a time takes longer for each than many', async () => {
    const { pace, answers } = paced();
    await answers(10, 48); // 1.5 ms for each of 32
    await answers(20, 5_000);
    assert.equal(pace.width, 1);
    await answers(10, 17);
    assert.equal(pace.width, pace.widest);
  });

  it('is never more than a person allows, and the next waits for one to leave', async () => {
    const { pace, answers } = paced({ parallel: 2 });
    await answers(10, 10);
    await pace.enter();
    await pace.enter();
    let entered = false;
    const third = pace.enter().then(() => {
      entered = true;
    });
    await turn();
    assert.equal(entered, false);
    pace.leave(10);
    await third;
    assert.equal(entered, true);
  });

  it('keeps to so many a second', async () => {
    const { clock, pace } = paced({ qps: 10 });
    for (let number = 0; number < 21; number += 1) {
      await pace.enter();
      pace.leave(1);
    }
    assert.ok(Math.abs(clock.seconds() - 2) < 0.001, `${clock.seconds()}`);
  });
});
