import assert from 'node:assert/strict';
import { effects } from '../../src/cli/effects.ts';
import { type PlanPorts, planChain } from '../../src/engine/plan-chain.ts';
import type { EngineEvent } from '../../src/kernel/event.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import type { Sources } from '../../src/kernel/ports.ts';
import { type AnyStage, stage } from '../../src/kernel/stage.ts';
import { engineContext } from '../support/engine-ports.ts';

/** By this clock every look takes a second. */
let seconds = 0;
const clock = { now: () => new Date(1_000 * seconds) } as Sources['clock'];
const interruption = interruptionOf(new AbortController().signal, new AbortController().signal);
const sources = { clock, interruption, effects } as Partial<PlanPorts> as PlanPorts;

function stageOf(id: 'preflight' | 'apply' | 'backup' | 'verify', opened: string[], judgesResult = false): AnyStage {
  return stage<null>({
    id,
    title: id,
    ref: '§4.4',
    readOnly: id !== 'apply',
    judgesResult,
    needs: [],
    checks: [
      {
        id: 'NS-001',
        title: 't',
        category: 'kubernetes',
        severity: 'error',
        ref: '§1',
        judge: () => ({ status: 'failed', because: 'no', hint: 'h' }),
      },
    ],
    async survey() {
      opened.push(id);
      seconds += 1;
      return null;
    },
    plan: () => ({
      actions: [{ id: 'a', title: 'a', ref: '§4.4/2', undo: 'none', effect: { type: 'exec', run: { tool: 'kubectl', args: [] } } }],
    }),
  });
}

describe('planChain', () => {
  it('opens every stage but those that judge the result, which it only names', async () => {
    const opened: string[] = [];
    const stages = [stageOf('apply', opened), stageOf('verify', opened, true)];
    const planned = await planChain(stages, sources, engineContext(), () => undefined);
    assert.deepEqual(opened, ['apply']);
    assert.deepEqual(
      planned.stages.map(({ id, actions }) => [id, actions.length]),
      [
        ['apply', 1],
        ['verify', 0],
      ],
    );
    assert.equal(planned.findings.length, 1);
    assert.equal(planned.writes, true);
  });

  it('leaves what is asked for beside the upgrade until the upgrade is done', async () => {
    const opened: string[] = [];
    const beside = { ...stageOf('preflight', opened), optional: true };
    const planned = await planChain([stageOf('apply', opened), beside], sources, engineContext(), () => undefined);
    assert.deepEqual(opened, ['apply']);
    assert.match(planned.stages[1]?.notes.join() ?? '', /when its turn comes/);
    const alone: string[] = [];
    await planChain([{ ...stageOf('preflight', alone), optional: true }], sources, engineContext(), () => undefined);
    assert.deepEqual(alone, ['preflight']);
  });

  it('tells how long each stage took, and keeps it with what only looked', async () => {
    const events: EngineEvent[] = [];
    const stages = [stageOf('preflight', []), stageOf('verify', [], true)];
    await planChain(stages, sources, engineContext(), (event) => events.push(event));
    const took = events.flatMap((event) => (event.type === 'planned' ? [[event.stage, event.durationMs]] : []));
    assert.deepEqual(took, [
      ['preflight', 1_000],
      ['verify', 0],
    ]);
    const { looked } = await planChain(stages, sources, engineContext(), () => undefined);
    assert.equal(looked.get('preflight')?.tookMs, 1_000);
  });

  it('neither judges nor plans what a person gave up, whatever a survey made of it', async () => {
    const soft = new AbortController();
    const events: EngineEvent[] = [];
    const cutOff = { ...sources, interruption: interruptionOf(soft.signal, soft.signal) };
    const stages = [stageOf('preflight', []), stageOf('apply', { push: () => soft.abort() } as unknown as string[]), stageOf('backup', [])];
    await assert.rejects(
      planChain(stages, cutOff, engineContext(), (event) => events.push(event)),
      { code: 'interrupted' },
    );
    assert.deepEqual(
      events.map((event) => `${event.type} ${'stage' in event ? event.stage : ''}`),
      ['stage-started preflight', 'judged preflight', 'planned preflight', 'stage-started apply'],
    );
  });

  it('says with which exit the findings stop the chain', async () => {
    const planned = await planChain([stageOf('preflight', [])], sources, engineContext(), () => undefined);
    assert.equal(planned.blocked, 'blocked');
    const accepted = await planChain(
      [stageOf('preflight', [])],
      sources,
      engineContext({ accept: [{ check: 'NS-001' }] }),
      () => undefined,
    );
    assert.equal(accepted.blocked, undefined);
  });
});
