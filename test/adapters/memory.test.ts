import assert from 'node:assert/strict';

/** One of its own: other tests of this process have read much already. */
const alone = new URL('../../src/adapters/memory.ts?alone', import.meta.url).href;
const MIB = 1024 * 1024;

describe('memory that is needed no more', () => {
  const { gc } = globalThis;
  const { rss } = process.memoryUsage;
  afterEach(() => {
    globalThis.gc = gc;
    process.memoryUsage.rss = rss;
  });

  it('is given back once much was read, where there is much of it, and again only once there is much more than was left', async () => {
    const { giveMemoryBack } = (await import(alone)) as typeof import('../../src/adapters/memory.ts');
    let [now, times] = [100, 0];
    process.memoryUsage.rss = () => now * MIB;
    const left = (after: number) => {
      globalThis.gc = (() => {
        times += 1;
        now = after;
      }) as unknown as NodeJS.GCFunction;
    };
    const at = (before: number, after: number): number => {
      [now, times] = [before, 0];
      left(after);
      giveMemoryBack();
      return times;
    };
    assert.equal(at(200, 90), 0, 'a small cluster');
    giveMemoryBack(64 * MIB);
    assert.deepEqual([at(100, 90), at(140, 100), at(126, 100), at(129, 120)], [0, 1, 0, 1], 'a large fleet');
    assert.deepEqual([at(300, 290), at(309, 290), at(320, 110)], [1, 0, 1], 'what it holds is much itself');
    globalThis.gc = undefined;
    [now, times] = [900, 0];
    giveMemoryBack();
    assert.equal(times, 0);
  });
});
