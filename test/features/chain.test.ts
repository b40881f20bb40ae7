import assert from 'node:assert/strict';
import { isOn } from '../../src/cli/carried.ts';
import { CHAINS, type Chain } from '../../src/cli/command-names.ts';
import { FLAGS } from '../../src/cli/flags.ts';
import type { Seams } from '../../src/cli/seams.ts';
import type { Asked } from '../../src/cli/session.ts';
import { stagesOf } from '../../src/cli/stage-command.ts';
import { chain, judgingKubectl } from '../../src/features/chain.ts';
import type { Action } from '../../src/kernel/action.ts';
import type { Tool, Tools } from '../../src/kernel/argv.ts';
import type { Finding } from '../../src/kernel/check.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { Sources } from '../../src/kernel/ports.ts';
import type { AnyStage, StagePlan } from '../../src/kernel/stage.ts';
import { contextOf } from '../fixtures/facts.ts';
import { chartBench } from '../support/chart-bench.ts';
import { emptySources } from '../support/empty-sources.ts';
import { operatedBench } from '../support/operated-bench.ts';
import { scripted } from '../support/scripted-stage.ts';

const starting = (tool: Tool): Action => ({
  ...{ id: 'a', title: 'a', ref: '§4.4', undo: 'full' },
  effect: { type: 'exec', run: { tool, args: ['version'] } },
});

/** A machine with a kubectl of that version, or with none; `asked` counts how often it is looked for. */
function machine(version?: string): { readonly tools: Tools; readonly asked: () => number } {
  let looked = 0;
  const tools: Tools = {
    ...emptySources().tools,
    async which() {
      looked += 1;
      return version === undefined ? [] : ['/bin/kubectl'];
    },
    run: async () => ({ exitCode: 0, stdout: `{"gitVersion":"${version}"}`, stderr: '', durationMs: 1 }),
  };
  return { tools, asked: () => looked };
}

async function judged(stage: AnyStage, tools: Tools): Promise<Readonly<Record<string, Finding['outcome']>>> {
  const cluster = { version: async () => ({ gitVersion: 'v1.36.1', major: '1', minor: '36' }) };
  const open = await judgingKubectl(stage).open({ tools, cluster } as Sources, contextOf());
  return Object.fromEntries(open.findings().map(({ id, outcome }) => [id, outcome]));
}

describe('a stage whose plan starts kubectl', () => {
  const plan: StagePlan = { actions: [starting('kubectl')] };

  it('is judged by the kubectl that there is', async () => {
    assert.deepEqual(await judged(scripted('alp', [plan]), machine().tools), { 'NS-003': 'error', 'NS-004': 'not-applicable' });
    assert.deepEqual(await judged(scripted('alp', [plan]), machine('v1.15.12').tools), { 'NS-003': 'ok', 'NS-004': 'error' });
    assert.deepEqual(await judged(scripted('alp', [plan]), machine('v1.36.1').tools), { 'NS-003': 'ok', 'NS-004': 'ok' });
  });

  it('needs none where nothing is left to do, or other programs do it', async () => {
    for (const other of [{ skip: 'all is done' }, { actions: [starting('netsvcctl')] }]) {
      const { tools, asked } = machine();
      assert.deepEqual(await judged(scripted('hep', [other]), tools), {});
      assert.equal(asked(), 0);
    }
  });

  it('says what stands against its plan only after what was found', async () => {
    const stage = scripted('apply', [], {
      plan() {
        throw new Fault('usage', 'no such plan', []);
      },
    });
    const open = await judgingKubectl(stage).open({ tools: machine().tools } as Sources, contextOf());
    assert.deepEqual(open.findings(), []);
    assert.throws(() => open.plan(), { message: 'no such plan' });
  });

  it('is any stage of the chain: CRDs and the operator’s manifest are not begun without it', async () => {
    for (const [id, bench] of [
      ['crds', await operatedBench()],
      ['apply', await operatedBench()],
      ['crds', chartBench()],
    ] as const) {
      const tools = { ...bench.sources.tools, ...machine().tools };
      const cluster = { ...bench.sources.cluster, version: async () => ({ gitVersion: 'v1.36.1', major: '1', minor: '36' }) };
      const open = await chain.find((one) => one.id === id)?.open({ ...bench.sources, tools, cluster }, bench.context);
      assert.equal(open?.findings().find((one) => one.id === 'NS-003')?.outcome, 'error', id);
    }
  });
});

describe('the undo of a stage', () => {
  it('is a stage wherever a command is said to undo it', () => {
    const undone = chain.filter(({ undoneBy }) => undoneBy?.endsWith(' --undo'));
    assert.ok(undone.length >= 3);
    for (const { id, undoneBy, undo } of undone) assert.equal(undoneBy?.startsWith(`${undo?.id.replace('-', ' ')} --undo`), true, id);
    for (const { undoneBy = '' } of undone) assert.ok(isOn(FLAGS.undo, undoneBy.split(' ')[0] ?? ''), `no flag for ${undoneBy}`);
    // That of apply releases what the run holds: the release stays.
    assert.deepEqual(
      chain.filter(({ undo, undoneBy }) => undo !== undefined && undoneBy === undefined).map(({ id }) => id),
      ['apply'],
    );
  });

  it('is taken from the chain by its command, and needs the same of kubectl', async () => {
    const seams = { loadChain: async () => chain } as unknown as Seams;
    const undoIds = async (of: Chain) =>
      (await stagesOf({ chain: of, flags: { undo: true } } as unknown as Asked, seams)).map(({ id }) => id);
    assert.deepEqual(await undoIds(CHAINS['ownerrefs restore']), ['ownerrefs-restore']);
    assert.deepEqual(await undoIds(CHAINS.apply), ['apply']);
    const undo = scripted('hep', [{ actions: [starting('kubectl')] }]);
    const wrapped = judgingKubectl({ ...scripted('hep', []), undo }).undo ?? assert.fail();
    const cluster = { version: async () => ({ gitVersion: 'v1.36.1', major: '1', minor: '36' }) };
    const open = await wrapped.open({ tools: machine().tools, cluster } as Sources, contextOf());
    assert.deepEqual(
      open.findings().map(({ id, outcome }) => [id, outcome]),
      [
        ['NS-003', 'error'],
        ['NS-004', 'not-applicable'],
      ],
    );
  });
});
