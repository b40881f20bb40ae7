import assert from 'node:assert/strict';
import { together } from '../../src/kernel/each-of.ts';

/** A look that ends when it is told to. */
function looks() {
  const open: { end(): void; fail(thrown: Error): void }[] = [];
  const look = () => new Promise<void>((end, fail) => open.push({ end, fail }));
  return { open, ask: together(look) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('one look for many', () => {
  it('begins after each question, and serves all that wait', async () => {
    const { open, ask } = looks();
    const first = ask();
    assert.equal(open.length, 1);
    const more = [ask(), ask(), ask()];
    await turn();
    assert.equal(open.length, 1, 'none begins beside the one under way');
    open[0]?.end();
    await first;
    await turn();
    assert.equal(open.length, 2, 'one for the three');
    const last = ask();
    open[1]?.end();
    await Promise.all(more);
    await turn();
    assert.equal(open.length, 3, 'who asked during the second waits for a third');
    open[2]?.end();
    await last;
    void ask();
    assert.equal(open.length, 4);
  });

  it('fails for those that asked before it, and for nobody else', async () => {
    const { open, ask } = looks();
    const first = ask();
    const second = ask();
    open[0]?.fail(new Error('gone'));
    await assert.rejects(first, /gone/);
    await turn();
    open[1]?.end();
    await second;
  });
});
