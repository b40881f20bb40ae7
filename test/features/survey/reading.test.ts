import assert from 'node:assert/strict';
import { attempt, attemptWith, FORBIDDEN } from '../../../src/features/survey/reading.ts';
import { eachOf } from '../../../src/kernel/each-of.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { interrupted } from '../../../src/kernel/interruption.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';

describe('a reading', () => {
  it('keeps the reason of a refusal', async () => {
    const refused = await attempt(async () => Promise.reject(new ApiFailure(403, 'Forbidden', 'nodes is forbidden')));
    assert.deepEqual(refused, { unread: 'nodes is forbidden (403)', ...FORBIDDEN });
    const silent = await attempt(async () => Promise.reject(new ApiFailure(0, '', 'connection refused')));
    assert.deepEqual(silent, { unread: 'connection refused (no answer)' });
    assert.deepEqual(await attempt(async () => Promise.reject(new Fault('failed', 'HTTP 404', []))), { unread: 'HTTP 404' });
  });

  it('keeps what helps as well', async () => {
    const fault = new Fault('failed', 'HTTP 404', ['name a release', 'or give a folder']);
    const found = await attempt(async () => Promise.reject(fault));
    const { hint } = found as { readonly hint?: readonly unknown[] };
    assert.deepEqual({ ...found, hint: hint?.map(String) }, { unread: 'HTTP 404', hint: ['name a release', 'or give a folder'] });
  });

  it('ends with the look that a person gave up: nobody refused anything', async () => {
    await assert.rejects(
      attempt(async () => Promise.reject(interrupted())),
      { code: 'interrupted' },
    );
  });

  it('ends where somebody changed the state: no check may be accepted over that', async () => {
    const stale = async () => Promise.reject(new Fault('stale', 'it was changed', ['look']));
    await assert.rejects(attempt(stale), { code: 'stale' });
    await assert.rejects(attemptWith({ value: 1 }, stale), { code: 'stale' });
  });

  it('does not hide a defect', async () => {
    await assert.rejects(
      attempt(async () => Promise.reject(new TypeError('x is undefined'))),
      TypeError,
    );
  });

  it('passes the reason of what it builds on along', async () => {
    assert.deepEqual(await attemptWith({ unread: 'no' }, async () => 1), { unread: 'no' });
    assert.deepEqual(await attemptWith({ value: 1 }, async (one) => one + 1), { value: 2 });
  });
});

describe('work on each of many', () => {
  it('keeps the order and never runs more than the width at a time', async () => {
    let running = 0;
    let most = 0;
    const doubled = await eachOf([1, 2, 3, 4, 5], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return item * 2;
    });
    assert.deepEqual(doubled, [2, 4, 6, 8, 10]);
    assert.equal(most, 2);
  });
});
