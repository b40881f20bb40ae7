import assert from 'node:assert/strict';
import { runDemo } from '../../src/cli/demo.ts';
import type { AnyStage } from '../../src/core/stage.ts';
import { usualChain as chain } from '../../src/stages/index.ts';
import { commandBench } from '../support/command-bench.ts';

describe('demo', () => {
  const demo = async (flags: Omit<Parameters<typeof runDemo>[0]['flags'], 'fast'>, stages: readonly AnyStage[] = chain) => {
    const bench = commandBench(stages);
    const exit = await runDemo({ flags: { ...flags, fast: true }, seams: bench.seams });
    return { bench, exit };
  };

  it('performs the whole chain without asking, and without composing a real cluster', async () => {
    const { bench, exit } = await demo({ output: 'table' });
    assert.equal(exit, 'done');
    assert.deepEqual([bench.requests, bench.questions], [[], []]);
    assert.match(bench.err(), /netsvc-node node-04 new v3\.32\.2 2\/2/);
    assert.match(bench.out(), /^verify +done/m);
  });

  it('with --keep-going times out at a stuck node, and continues to the end', async () => {
    const { bench, exit } = await demo({ output: 'json', 'keep-going': true });
    assert.equal(exit, 'done');
    assert.match(bench.err(), /node-02: not ready[\s\S]*Exit code 124: timed out/);
    const document = JSON.parse(bench.out()) as { readonly kind: string };
    assert.equal(document.kind, 'RunReport');
  });
});
