import assert from 'node:assert/strict';
import type { Action } from '../../src/kernel/action.ts';
import { History } from '../../src/kernel/history.ts';
import type { PodPhase, RolloutTarget } from '../../src/kernel/rollout.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
const action = (id: string): Action => ({
  id,
  title: `do ${id}`,
  ref: '§4.4/2',
  undo: 'none',
  effect: { type: 'write', file: 'f', content: 'look' },
  keep: { changes: [], since: 'never told' },
});
const target = (kind: RolloutTarget['kind']): RolloutTarget => ({
  kind,
  namespace: 'kube-system',
  name: 'node',
  container: 'node',
  image: 'node:v2',
  ready: { type: 'all-containers' },
});
const pod = (node: string, name: string, phase: PodPhase, why = '', reason = why) => ({
  ...{ node, pod: name, phase, release: '', ready: '', why, reason },
});
const look = (kind: RolloutTarget['kind'], pods: readonly ReturnType<typeof pod>[], done = false) =>
  ({ type: 'rollout', stage: 'wait', elapsedMs: 0, progress: [{ target: target(kind), desired: 2, pods, done, pending: '' }] }) as const;

describe('the history of a run', () => {
  it('tells each action with its time, its end and its result, and nothing of its content', () => {
    const history = new History(at(0), (one) => `ask ${one.id}`);
    history.observe({ type: 'action-started', stage: 'apply', action: action('a') }, at(1));
    history.observe({ type: 'action-done', stage: 'apply', action: action('a'), durationMs: 2000, detail: '3 objects' }, at(3));
    history.observe({ type: 'action-started', stage: 'apply', action: action('b') }, at(4));
    history.observe({ type: 'action-failed', stage: 'apply', action: action('b'), message: 'refused' }, at(9));
    const { actions, ...times } = history.told(at(10));
    assert.deepEqual(times, { startedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:10.000Z', rollouts: [], notes: [] });
    assert.deepEqual(
      actions.map(({ id, outcome, durationMs, detail }) => [id, outcome, durationMs, detail]),
      [
        ['a', 'done', 2000, '3 objects'],
        ['b', 'failed', 5000, 'refused'],
      ],
    );
    assert.doesNotMatch(JSON.stringify(actions), /never told|look/);
  });

  it('names what an action deletes, also by a tool that is told so in its own words', () => {
    const history = new History(at(0), () => '');
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'old' };
    const changes = [
      { ref, before: { '': ref }, after: {} },
      { ref: { ...ref, name: 'cut' }, before: { '/data': 1 }, after: {} },
      { ref: { ...ref, name: 'put back' }, before: {}, after: { '': ref } },
    ];
    history.observe({ type: 'action-started', stage: 'a', action: { ...action('1'), effect: { type: 'delete', target: ref } } }, at(0));
    history.observe({ type: 'action-started', stage: 'a', action: { ...action('2'), keep: { changes } } }, at(0));
    assert.deepEqual(
      history.told(at(9)).actions.map(({ removed }) => removed),
      [[ref], [ref]],
    );
  });

  it('does not call done what is left to a person', () => {
    const history = new History(at(0), (one) => one.id);
    const step: Action = { ...action('a'), effect: { type: 'ask', instruction: 'look' } };
    history.observe({ type: 'action-started', stage: 'cli', action: step }, at(1));
    history.observe({ type: 'action-done', stage: 'cli', action: step, durationMs: 0, detail: 'to be done by a person' }, at(1));
    const [told] = history.told(at(2)).actions;
    assert.deepEqual([told?.outcome, told?.durationMs, told?.detail], ['left-to-person', undefined, 'to be done by a person']);
  });

  it('shows an action that never ended as running', () => {
    const history = new History(at(0), (one) => `ask ${one.id}`);
    history.observe({ type: 'action-started', stage: 'apply', action: action('a') }, at(1));
    assert.equal(history.told(at(2)).actions[0]?.outcome, 'running');
  });

  it('cuts a long text of a program', () => {
    const history = new History(at(0), (one) => `ask ${one.id}`);
    history.observe({ type: 'note', stage: 'apply', level: 'warning', text: 'x'.repeat(9000) }, at(1));
    assert.equal(history.told(at(2)).notes[0]?.text.length, 2001);
  });
});

describe('the history of a rollout', () => {
  it('keeps a node’s changes and not its looks: the same reason with another time is no change', () => {
    const history = new History(at(0), (one) => `ask ${one.id}`);
    const first = pod('n1', 'p1', 'old', 'next');
    history.observe(look('DaemonSet', [first, pod('n2', 'p2', 'old', 'next')]), at(10));
    history.observe(
      look('DaemonSet', [pod('n1', 'p3', 'updating', 'not ready, 3 s', 'not ready'), pod('n2', 'p2', 'old', 'next')]),
      at(13),
    );
    history.observe(
      look('DaemonSet', [pod('n1', 'p3', 'updating', 'not ready, 9 s', 'not ready'), pod('n2', 'p2', 'old', 'next')]),
      at(19),
    );
    history.observe(look('DaemonSet', [pod('n1', 'p3', 'new'), pod('n2', 'p2', 'old', 'next')], true), at(25));
    const [rollout] = history.told(at(30)).rollouts;
    assert.equal(rollout?.workload, 'DaemonSet/kube-system/node');
    assert.deepEqual([rollout?.seconds, rollout?.done, rollout?.desired], [15, true, 2]);
    assert.deepEqual(rollout?.rows, [
      {
        node: 'n1',
        marks: [
          { at: 0, phase: 'old', why: 'next' },
          { at: 3, phase: 'updating', why: 'not ready' },
          { at: 15, phase: 'new' },
        ],
      },
      { node: 'n2', marks: [{ at: 0, phase: 'old', why: 'next' }] },
    ]);
  });

  it('has a row per pod of a Deployment, and says when one is gone', () => {
    const history = new History(at(0), (one) => `ask ${one.id}`);
    history.observe(look('Deployment', [pod('n1', 'old-1', 'old', 'next')]), at(0));
    history.observe(look('Deployment', [pod('n1', 'new-1', 'new')]), at(4));
    assert.deepEqual(
      history.told(at(9)).rollouts[0]?.rows.map((row) => [row.pod, row.marks.map((mark) => mark.phase)]),
      [
        ['new-1', ['new']],
        ['old-1', ['old', 'gone']],
      ],
    );
  });

  it('has no row of a pod that had no node yet once it has one', () => {
    for (const [kind, rows] of [
      ['DaemonSet', [['n1', undefined, ['updating']]]],
      ['Deployment', [['n1', 'new-1', ['updating']]]],
    ] as const) {
      const history = new History(at(0), (one) => `ask ${one.id}`);
      history.observe(look(kind, [pod('', 'new-1', 'updating'), pod('', 'lost', 'updating')]), at(0));
      history.observe(look(kind, [pod('n1', 'new-1', 'updating')]), at(1));
      assert.deepEqual(
        history.told(at(9)).rollouts[0]?.rows.map(({ node, pod: name, marks }) => [node, name, marks.map(({ phase }) => phase)]),
        rows,
      );
    }
  });

  it('bounds a row that flaps and keeps its last state', () => {
    const history = new History(at(0), (one) => `ask ${one.id}`);
    for (let second = 0; second < 500; second += 1)
      history.observe(look('DaemonSet', [pod('n1', 'p', second % 2 === 0 ? 'updating' : 'failed', 'crash')]), at(second));
    const marks = history.told(at(500)).rollouts[0]?.rows[0]?.marks ?? [];
    assert.equal(marks.length, 24);
    assert.deepEqual(marks.at(-1), { at: 499, phase: 'failed', why: 'crash' });
  });
});
