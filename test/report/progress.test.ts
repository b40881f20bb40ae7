import assert from 'node:assert/strict';
import type { Action } from '../../src/kernel/action.ts';
import type { EngineEvent } from '../../src/kernel/event.ts';
import type { RolloutProgress } from '../../src/kernel/rollout.ts';
import { plain } from '../../src/report/colour.ts';
import { startProgress } from '../../src/report/progress.ts';

const action: Action = { id: 'a', title: 'apply upgrade.yaml', ref: 'r', undo: 'full', effect: { type: 'ask', instruction: 'x' } };
const target = {
  kind: 'DaemonSet',
  namespace: 'k',
  name: 'netsvc-node',
  container: 'c',
  image: 'i',
  ready: { type: 'all-containers' },
} as const;
const rollout = (phase: 'old' | 'updating'): RolloutProgress => ({
  ...{ target, desired: 1, done: false, pending: '' },
  pods: [{ node: 'n1', pod: 'p', phase, release: 'v3.26.4', ready: '2/2', why: '' }],
});

async function log(mode: 'lines' | 'silent', phase: 'plan' | 'run', events: readonly (EngineEvent | 'tick' | 'second')[]): Promise<string> {
  const [written, stopped]: [string[], string[]] = [[], []];
  const ticks = new Map<number, () => void>();
  const every = (ms: number, call: () => void) => {
    ticks.set(ms, call);
    return () => void stopped.push(`${ms}`);
  };
  const call = (ms: number) => ticks.get(ms)?.();
  const progress = await startProgress({ mode, phase, stages: [], palette: plain, write: (text) => written.push(text), every });
  for (const event of events) {
    if (event === 'tick') call(15_000);
    else if (event === 'second') call(1_000);
    else progress.observe(event);
  }
  await progress.close();
  assert.deepEqual(stopped, [...ticks.keys()].map(String), 'nothing goes on by itself');
  return written.join('');
}

const run: readonly EngineEvent[] = [
  { type: 'stage-started', stage: 'crds', title: 'New CRDs' },
  { type: 'stage-skipped', stage: 'crds', because: 'there already' },
  { type: 'stage-started', stage: 'apply', title: 'Apply' },
  { type: 'action-started', stage: 'apply', action, place: { stage: 'apply', step: 3, of: 5 } },
  { type: 'action-output', stage: 'apply', action, line: 'configmap/c serverside-applied', stream: 'stdout' },
  { type: 'action-done', stage: 'apply', action, durationMs: 1, detail: '1 object' },
  { type: 'note', stage: 'apply', text: 'be careful', level: 'warning' },
  { type: 'action-failed', stage: 'apply', action, message: 'boom' },
  { type: 'stage-done', stage: 'apply', durationMs: 61_000 },
];

describe('progress off a terminal', () => {
  it('does not call it a failure where the person asked to stop', async () => {
    const stopped: EngineEvent = { type: 'action-failed', stage: 'wait', action, message: 'stopped while waiting', interrupted: true };
    assert.equal(await log('lines', 'run', [stopped]), 'wait: stopped while waiting\n');
  });

  it('writes one line per change', async () => {
    assert.equal(
      await log('lines', 'run', run),
      [
        'crds: New CRDs',
        'crds: nothing to do: there already',
        'apply: Apply',
        'apply: step 3 of 5: manual step: apply upgrade.yaml',
        'apply:   configmap/c serverside-applied',
        'apply:   1 object',
        'Warning: be careful',
        'apply: failed: boom',
        'apply: done in 1m1s',
        '',
      ].join('\n'),
    );
  });

  it('does not say twice what an action’s title says', async () => {
    const done: EngineEvent = { type: 'action-done', stage: 'apply', action, durationMs: 1, detail: 'upgrade.yaml' };
    assert.equal(await log('lines', 'run', [done]), '');
  });

  it('beats only after a quiet interval', async () => {
    const started: EngineEvent = { type: 'action-started', stage: 'wait', action };
    const seen = (phase: 'old' | 'updating', elapsedMs: number): EngineEvent => ({
      type: 'rollout',
      stage: 'wait',
      progress: [rollout(phase)],
      elapsedMs,
    });
    const events = [
      started,
      'tick',
      seen('old', 1000),
      'tick',
      seen('updating', 20_000),
      'tick',
      seen('updating', 35_000),
      'tick',
    ] as const;
    assert.equal(
      await log('lines', 'run', events),
      [
        'wait: manual step: apply upgrade.yaml',
        'still: apply upgrade.yaml (netsvc-node 0/1 new · 0 updating · 0 failed, 00:01)',
        'wait:   netsvc-node n1 updating v3.26.4 2/2',
        'still: apply upgrade.yaml (netsvc-node 0/1 new · 1 updating · 0 failed, 00:35)',
        '',
      ].join('\n'),
    );
  });

  const plan = { id: 'crds', title: 'New CRDs', ref: 'r', actions: [], objects: [], notes: [] };

  it('says nothing of stages that are planned at once', async () => {
    const planned: EngineEvent = { type: 'planned', stage: 'crds', plan, durationMs: 400 };
    assert.equal(await log('lines', 'plan', [{ type: 'stage-started', stage: 'crds', title: 'New CRDs' }, planned]), '');
  });

  it('says within a second what is being planned, once, and how long it took', async () => {
    const events = [
      { type: 'stage-started', stage: 'preflight', title: 'Find out' },
      'second',
      'second',
      { type: 'planned', stage: 'preflight', plan, durationMs: 8_600 },
      { type: 'stage-started', stage: 'crds', title: 'New CRDs' },
      { type: 'planned', stage: 'crds', plan, durationMs: 200 },
      { type: 'stage-started', stage: 'apply', title: 'Apply' },
      'second',
    ] as const;
    assert.equal(
      await log('lines', 'plan', events),
      ['planning: preflight: Find out', 'planning: preflight: took 9s', 'planning: apply: Apply', ''].join('\n'),
    );
  });

  it('says nothing of planning while it runs', async () => {
    assert.equal(await log('lines', 'run', [{ type: 'planned', stage: 'crds', plan }]), '');
  });

  it('has only the warnings when silent', async () => assert.equal(await log('silent', 'run', [...run, 'tick']), 'Warning: be careful\n'));
});
