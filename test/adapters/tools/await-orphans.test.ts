import assert from 'node:assert/strict';
import { awaitOrphans } from '../../../src/adapters/tools/orphans.ts';
import { Fault } from '../../../src/kernel/fault.ts';

const KUBECTL = { pid: 4711, program: 'kubectl' };

/** Programs that end after so many looks; time passes by sleeping only. */
function bench(endsAfter: number) {
  const said: string[] = [];
  const stop = new AbortController();
  let looks = 0;
  let slept = 0;
  const parts = {
    orphans: async () => (looks++ < endsAfter ? [KUBECTL] : []),
    clock: {
      sleep: async (ms: number, signal?: AbortSignal) => {
        slept += ms;
        signal?.throwIfAborted();
      },
    },
    say: (text: string) => void said.push(text),
    stop: stop.signal,
  };
  return { parts, said, stop, slept: () => slept };
}

describe('waiting for the programs of a killed run', () => {
  it('says nothing and does not wait where there are none', async () => {
    const { parts, said, slept } = bench(0);
    assert.equal(await awaitOrphans(parts), false);
    assert.deepEqual([said, slept()], [[], 0]);
  });

  it('says once what it waits for, and goes on when it has ended', async () => {
    const { parts, said } = bench(5);
    assert.equal(await awaitOrphans(parts), true);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /waiting for kubectl \(process 4711\)/);
  });

  it('refuses after two minutes, and says how to end it', async () => {
    const { parts, slept } = bench(Number.POSITIVE_INFINITY);
    await assert.rejects(awaitOrphans(parts), (thrown) => {
      assert.ok(thrown instanceof Fault && thrown.code === 'locked');
      assert.match(thrown.message, /kubectl \(process 4711\).*may still write/);
      assert.match(thrown.suggestions.join('\n'), /kill 4711/);
      return true;
    });
    assert.equal(slept(), 120_000);
  });

  it('ends at Ctrl-C', async () => {
    const { parts, stop } = bench(Number.POSITIVE_INFINITY);
    stop.abort();
    await assert.rejects(awaitOrphans(parts), (thrown) => thrown instanceof Fault && thrown.code === 'interrupted');
  });
});
