import assert from 'node:assert/strict';
import { systemClock } from '../../src/adapters/clock.ts';

const { sleep } = systemClock();
const why = new Error('lease lost');

describe('systemClock', () => {
  it('rejects a sleep with the reason of its signal', async () => {
    const abort = new AbortController();
    const sleeping = sleep(60_000, abort.signal);
    abort.abort(why);
    await assert.rejects(sleeping, why);
  });

  it('rejects at once for a signal that came before', async () => {
    await assert.rejects(sleep(60_000, AbortSignal.abort(why)), why);
    await assert.rejects(sleep(0, AbortSignal.abort(why)), why);
  });

  it('does not take a sleep of months for one of no time', async () => {
    const abort = new AbortController();
    const sleeping = sleep(2 ** 32, abort.signal).then(
      () => 'over',
      () => 'aborted',
    );
    setTimeout(() => abort.abort(why), 20);
    assert.equal(await sleeping, 'aborted');
  });

  it('sleeps and goes on', async () => assert.equal(await sleep(1), undefined));
});
