import assert from 'node:assert/strict';
import { runnerArguments } from './seed.ts';

describe('arguments of the runners of tests', () => {
  it('hand the seed on under the name that the tests read', () => {
    assert.deepEqual(runnerArguments(['--seed', '7']), { full: false, env: { SEED: '7' } });
    assert.deepEqual(runnerArguments(['--full', '--seed=20261121']), { full: true, env: { SEED: '20261121' } });
  });

  it('leave the seed to the environment where none is said', () => {
    assert.deepEqual(runnerArguments(['--full']), { full: true, env: {} });
    assert.deepEqual(runnerArguments([]), { full: false, env: {} });
  });

  for (const [args, says] of [
    [['--seed'], /--seed/],
    [['--seed='], /--seed needs a number/],
    [['--seed', 'abc'], /whole number.*"abc"/],
    [['--seed', '1.5'], /whole number.*"1\.5"/],
    [['--sed', '7'], /--sed/],
    [['7'], /7/],
  ] as const)
    it(`are refused where they would be passed over in silence: ${args.join(' ')}`, () => {
      assert.throws(() => runnerArguments(args), says);
    });
});
