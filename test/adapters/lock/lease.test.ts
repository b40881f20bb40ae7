import assert from 'node:assert/strict';
import { startStopwatch } from '../../../src/adapters/lock/lease.ts';

describe('the stopwatch', () => {
  it('counts the time that the machine slept, which one of its clocks does not', () => {
    let readings = [1000, 70_000];
    const passed = startStopwatch(() => readings);
    assert.equal(passed(), 0);
    readings = [1500, 670_000];
    assert.equal(passed(), 600_000);
  });

  it('counts with the finer clock where both go on', () => {
    let readings = [1000, 70_000];
    const passed = startStopwatch(() => readings);
    readings = [1007, 70_000];
    assert.equal(passed(), 7);
  });

  it('never goes back, by the clocks of this machine', () => {
    const passed = startStopwatch();
    const first = passed();
    assert.ok(first >= 0 && passed() >= first);
  });
});
