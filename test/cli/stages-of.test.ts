import assert from 'node:assert/strict';
import { CHAINS, chainOf, lookAt, OPTIONAL_STAGE_IDS, STAGE_IDS, telling } from '../../src/cli/command-names.ts';
import type { Seams } from '../../src/cli/seams.ts';
import type { Asked } from '../../src/cli/session.ts';
import { sliceOf, stagesOf } from '../../src/cli/stage-command.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { fakeStage } from '../support/command-bench.ts';

const chain = ['preflight', 'crds', 'apply', 'wait', 'cli', 'hep', 'verify'].map((id) => ({ ...fakeStage(id), optional: id === 'hep' }));
const ids = (range: Parameters<typeof sliceOf>[0]) =>
  sliceOf(range)(chain)
    .map((stage) => stage.id)
    .join(' ');

describe('a slice of the chain', () => {
  it('is all of it by default, but for optional stages', () => assert.equal(ids({}), 'preflight crds apply wait cli verify'));
  it('holds an optional stage that is asked for', () => {
    assert.equal(ids({ include: ['hep'], from: 'cli' }), 'cli hep verify');
    assert.equal(ids({ from: 'hep' }), 'hep verify');
    assert.equal(ids({ through: 'hep', from: 'cli' }), 'cli hep');
  });
  it('begins at --from and ends with --through', () => assert.equal(ids({ from: 'crds', through: 'wait' }), 'crds apply wait'));
  it('leaves out --skip', () => assert.equal(ids({ from: 'wait', skip: ['cli'] }), 'wait verify'));
  it('is refused when nothing is left', () => assert.throws(() => ids({ from: 'cli', through: 'crds' }), Fault));
  it('is one stage for a command of its own', async () => assert.deepEqual(await stagesFor('apply'), ['apply']));
  it('is that stage and the optional one that a flag names', async () => {
    assert.deepEqual(await stagesFor('preflight', { 'probe-nodes': 'all' }), ['preflight', 'probe-nodes']);
    assert.deepEqual(await stagesFor('preflight'), ['preflight']);
  });
  it('is the part of it that the argument of a command names', async () =>
    assert.deepEqual(await stagesFor('ownerrefs', {}, 'strip'), ['ownerrefs-strip']));
});

async function stagesFor(command: string, flags: object = {}, action?: string): Promise<readonly string[]> {
  const { chain: real } = await import('../../src/features/chain.ts');
  const asked = { command, chain: chainOf(command, action), flags } as unknown as Asked;
  return (await stagesOf(asked, { loadChain: async () => real } as unknown as Seams)).map(({ id }) => id);
}

describe('chains', () => {
  it('tell whether an upgrade may begin and what came of it, each by one command', () => {
    for (const tells of ['readiness', 'result'] as const)
      assert.deepEqual(
        Object.values(CHAINS).filter((one) => one.tells === tells),
        [telling(tells)],
      );
  });
  it('show why a stage failed by what changes nothing', () =>
    assert.deepEqual(['apply', 'wait', 'crds', 'gone'].map(lookAt), ['wait', 'wait', 'preflight', 'preflight']));
});

const ELSEWHERE = 'src/cli/command-names.ts has another list than src/features/chain.ts';

describe('the stage names of flags', () => {
  it('are those of the chain', async () => {
    const { chain: real } = await import('../../src/features/chain.ts');
    assert.deepEqual(
      real.map((stage) => stage.id),
      [...STAGE_IDS],
      ELSEWHERE,
    );
    assert.deepEqual(
      real.filter(({ optional }) => optional).map((stage) => stage.id),
      [...OPTIONAL_STAGE_IDS],
      ELSEWHERE,
    );
  });
});
