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

const NOW = new Date('2026-11-25T02:14:05.999Z');

/** What was written, without the time of day. */
async function log(
  mode: 'lines' | 'silent',
  phase: 'plan' | 'run',
  events: readonly (EngineEvent | 'tick' | 'second')[],
  each = false,
): Promise<string> {
  const [written, stopped]: [string[], string[]] = [[], []];
  const ticks = new Map<number, () => void>();
  const every = (ms: number, call: () => void) => {
    ticks.set(ms, call);
    return () => void stopped.push(`${ms}`);
  };
  const call = (ms: number) => ticks.get(ms)?.();
  const write = (text: string) => written.push(text);
  const progress = await startProgress({ mode, phase, stages: [], palette: plain, write, every, each, now: () => NOW });
  for (const event of events) {
    if (event === 'tick') call(15_000);
    else if (event === 'second') call(1_000);
    else progress.observe(event);
  }
  await progress.close();
  assert.deepEqual(stopped, [...ticks.keys()].map(String), 'nothing goes on by itself');
  return written.join('').replaceAll(/^02:14:05Z /gm, '');
}

const run: readonly EngineEvent[] = [
  { type: 'stage-started', stage: 'crds', title: 'New CRDs' },
  { type: 'stage-skipped', stage: 'crds', because: 'there already' },
  { type: 'stage-started', stage: 'apply', title: 'Apply' },
  { type: 'action-started', stage: 'apply', action, place: { stage: 'apply', step: 3, of: 5 } },
  { type: 'action-output', stage: 'apply', action, line: 'configmap/c serverside-applied', stream: 'stdout' },
  { type: 'action-done', stage: 'apply', action, durationMs: 1, detail: 'kept' },
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
        'crds: nothing to do',
        'apply: Apply',
        'apply: step 3 of 5: manual step: apply upgrade.yaml',
        'apply:   1 object applied',
        'apply:   kept',
        'Warning: be careful',
        'apply: failed',
        'apply: done in 1m1s',
        '',
      ].join('\n'),
    );
  });

  it('names each object, and why a stage is not needed, only where more is asked for', async () => {
    const lines = (await log('lines', 'run', run, true)).split('\n');
    assert.ok(lines.includes('apply:   configmap/c serverside-applied'));
    assert.ok(!lines.some((line) => line.includes('1 object applied')));
    assert.ok(lines.includes('crds: nothing to do: there already'));
  });

  it('counts objects by what became of them, keeps every other line, and counts anew for each action', async () => {
    const said = (line: string, stream: 'stdout' | 'stderr' = 'stdout'): EngineEvent => ({
      ...{ type: 'action-output', stage: 'apply', action, line, stream },
    });
    const started: EngineEvent = { type: 'action-started', stage: 'apply', action };
    const done: EngineEvent = { type: 'action-done', stage: 'apply', action, durationMs: 1 };
    const events: readonly (EngineEvent | 'tick')[] = [
      ...[started, said('deployment.apps/a created'), said('crd.k8s.io/b configured'), said('crd.k8s.io/c configured')],
      ...[said('Warning: resource configmaps/x is missing the annotation', 'stderr'), said('Release "calico" has been upgraded.')],
      ...['tick' as const, 'tick' as const, done],
      ...[started, said('configmap/d serverside-applied (server dry run)'), done],
    ];
    assert.deepEqual((await log('lines', 'run', events)).trimEnd().split('\n'), [
      'apply: manual step: apply upgrade.yaml',
      'apply:   Warning: resource configmaps/x is missing the annotation',
      'apply:   Release "calico" has been upgraded.',
      'still: apply upgrade.yaml (1 object created, 2 configured)',
      'apply:   1 object created, 2 configured',
      'apply: manual step: apply upgrade.yaml',
      'apply:   1 object applied (server dry run)',
    ]);
  });

  it('has the time of day, in UTC, in front of every line, and not of what continues one', async () => {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    const every = () => () => undefined;
    const progress = await startProgress({ mode: 'lines', phase: 'run', stages: [], palette: plain, write, every, now: () => NOW });
    progress.observe({ type: 'note', stage: 'apply', text: 'one\ntwo', level: 'info' });
    assert.deepEqual(written, ['02:14:05Z apply: one\n  two\n']);
  });

  it('says how many pods are new, of how many, and about how long the rest takes', async () => {
    const at = (count: number, elapsedMs: number): EngineEvent => {
      const pods = ['n1', 'n2', 'n3', 'n4'].map((node, index) => ({
        ...{ node, pod: `p-${node}`, release: 'v3', ready: '2/2', why: '' },
        phase: index < count ? ('new' as const) : ('old' as const),
      }));
      return { type: 'rollout', stage: 'wait', progress: [{ target, desired: 4, done: false, pending: '', pods }], elapsedMs };
    };
    const started: EngineEvent = { type: 'action-started', stage: 'wait', action };
    const lines = (await log('lines', 'run', [started, at(0, 0), at(1, 10_000), at(3, 30_000), at(4, 40_000)])).trimEnd().split('\n');
    assert.deepEqual(lines.slice(1), [
      'wait:   netsvc-node n1 new v3 2/2 · 1 of 4',
      'wait:   netsvc-node n2 new v3 2/2',
      'wait:   netsvc-node n3 new v3 2/2 · 3 of 4 · about 10 s left',
      'wait:   netsvc-node n4 new v3 2/2 · 4 of 4',
    ]);
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
