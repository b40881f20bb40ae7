import assert from 'node:assert/strict';
import type { PodPhase, PodProgress, RolloutProgress } from '../../src/kernel/rollout.ts';
import { displayWidth } from '../../src/report/columns.ts';
import { roomBeside } from '../../src/report/progress-tree.ts';
import { RolloutPace, rolloutChanges, rolloutLines, rolloutSummary } from '../../src/report/rollout-view.ts';

const target = {
  kind: 'DaemonSet',
  namespace: 'kube-system',
  name: 'netsvc-node',
  container: 'c',
  image: 'i',
  ready: { type: 'all-containers' },
} as const;
const pod = (node: string, phase: PodPhase, why = '', reason = why): PodProgress => ({
  node,
  pod: `p-${node}`,
  phase,
  release: phase === 'old' ? 'v3.26.4' : 'v3.32.2',
  ready: phase === 'updating' ? '1/2' : '2/2',
  why,
  reason,
});
const off = (node: string, why: string): PodProgress => ({ ...pod(node, 'old', why), isOff: true });
const progress = (pods: readonly PodProgress[], pending = ''): RolloutProgress => ({
  target,
  desired: pods.length,
  pods,
  done: false,
  pending,
});

const ROOM = { rows: 20, columns: 80 };

/** A workload of one pod per node, of which the named are on their way, and two that wait for it. */
function workloads(nodes: number, updating: readonly string[]): readonly RolloutProgress[] {
  const why = 'cannot pull image (ImagePullBackOff), 41 s, and the reason goes on much longer than any line of a screen';
  const names = Array.from({ length: nodes }, (_, index) => `n${String(index).padStart(4, '0')}`);
  const agents = progress(
    names.map((name) => (updating.includes(name) ? pod(name, 'updating', 'starting') : off(name, why))),
    `${updating.length} of ${nodes} pods have been updated`,
  );
  const beside = (name: string) => ({ ...progress([off('n0000', why)]), target: { ...target, name } });
  return [agents, beside('netsvc-typha'), beside('netsvc-controllers')];
}

describe('the rollout table', () => {
  it('counts, and shows what hangs first and what is done not at all', () => {
    const pods = [
      pod('node-10', 'old', 'next'),
      pod('node-9', 'old'),
      pod('node-8', 'updating', 'pulling image, 41 s'),
      pod('node-1', 'new'),
    ];
    assert.deepEqual(rolloutLines([progress(pods)], 134_000, ROOM), [
      'netsvc-node [##--------] 1/4 · 1 updating · 0 failed  02:14',
      'NODE    AGENT    READY  WHY',
      'node-8  v3.32.2  1/2    pulling image, 41 s',
      '2 waiting',
    ]);
  });

  it('gives the time and the count of the rest even where there is hardly any room', () => {
    const pods = Array.from({ length: 40 }, (_, index) => pod(`n${index}`, 'old'));
    const lines = rolloutLines([progress(pods, '0 of 40 pods have been updated')], 5000, { rows: 2, columns: 30 });
    assert.deepEqual(lines, ['netsvc-node 0/40  00:05', '40 waiting']);
  });

  for (const nodes of [1000, 5000]) {
    for (const stages of [1, 12]) {
      it(`fits 80×24 with ${nodes} nodes, three workloads and a list of ${stages} stages`, () => {
        const screen = { rows: 24, columns: 80 };
        const lines = rolloutLines(workloads(nodes, []), 3_600_000, roomBeside(stages, screen));
        assert.ok(lines.length + stages < screen.rows, `${lines.length} lines`);
        for (const line of lines) assert.ok(displayWidth(line) <= screen.columns - 6, line);
        assert.equal(lines.filter((line) => line.startsWith('netsvc-')).length, 3);
        const agents = lines.slice(
          1,
          lines.findIndex((line) => line.startsWith('netsvc-typha')),
        );
        const shown = agents.filter((line) => /^n\d{4} /.test(line)).length;
        assert.ok(shown >= 5, `${shown} nodes are shown`);
        assert.equal(agents.at(-1), `… and ${nodes - shown} more`);
      });
    }
  }

  it('leaves the lines of all other nodes as they are when one of 5000 gets on', () => {
    const before = rolloutLines(workloads(5000, ['n0007']), 1000, ROOM);
    const now = rolloutLines(workloads(5000, ['n0003', 'n0007']), 1000, ROOM);
    const kept = new Set(before);
    assert.deepEqual(
      now.filter((line) => !kept.has(line)).map((line) => line.split(' ')[0]),
      ['netsvc-node', 'n0003'],
    );
  });

  it('has waiting nodes in one row, after those that have a reason', () => {
    const pods = [
      off('node-3', 'node is not ready'),
      ...Array.from({ length: 18 }, (_, index) => pod(`n${index}`, 'old', 'next')),
      pod('node-2', 'failed', 'cannot pull image'),
    ];
    assert.deepEqual(rolloutLines([progress(pods)], 0, ROOM).slice(1), [
      'NODE    AGENT    READY  WHY',
      'node-2  v3.32.2  2/2    cannot pull image',
      'node-3  v3.26.4  2/2    node is not ready',
      '18 waiting',
    ]);
    assert.deepEqual(rolloutLines([progress(pods)], 0, { rows: 3, columns: 80 }).slice(1), [
      'node-2  v3.32.2  2/2    cannot pull image',
      '… and 1 more, 18 waiting',
    ]);
  });

  for (const [columns, lines] of [
    [
      60,
      [
        'netsvc-node [###-------] 2/6 · 1 updating · 1 failed  02:14',
        'NODE    AGENT    READY  WHY',
        'node-3  v3.32.2  2/2    cannot pull image registry.example.…',
        'node-4  v3.32.2  1/2    starting',
        '2 waiting',
      ],
    ],
    [
      80,
      [
        'netsvc-node [###-------] 2/6 · 1 updating · 1 failed  02:14',
        'NODE    AGENT    READY  WHY',
        'node-3  v3.32.2  2/2    cannot pull image registry.example.org/node:v3.32.2…',
        'node-4  v3.32.2  1/2    starting',
        '2 waiting',
      ],
    ],
    [
      120,
      [
        'netsvc-node [###-------] 2/6 · 1 updating · 1 failed  02:14',
        'NODE    AGENT    READY  WHY',
        'node-3  v3.32.2  2/2    cannot pull image registry.example.org/node:v3.32.2 (404)',
        'node-4  v3.32.2  1/2    starting',
        '2 waiting',
      ],
    ],
    [
      200,
      [
        'netsvc-node [###-------] 2/6 · 1 updating · 1 failed  02:14',
        'NODE    AGENT    READY  WHY',
        'node-3  v3.32.2  2/2    cannot pull image registry.example.org/node:v3.32.2 (404)',
        'node-4  v3.32.2  1/2    starting',
        '2 waiting',
      ],
    ],
  ] as const)
    it(`is this at ${columns} columns`, () => {
      const why = 'cannot pull image registry.example.org/node:v3.32.2 (404)';
      const nodes = [pod('node-1', 'new'), pod('node-2', 'new'), pod('node-3', 'failed', why), pod('node-4', 'updating', 'starting')];
      const all = [...nodes, pod('node-5', 'old', 'next'), pod('node-6', 'old', 'next')];
      assert.deepEqual(rolloutLines([progress(all)], 134_000, { rows: 10, columns }), lines);
    });

  describe('says how long it still takes', () => {
    const rollout = (count: number, failed = false) =>
      progress([
        ...Array.from({ length: 30 }, (_, index) => pod(`n${index}`, index < count ? 'new' : 'old')),
        ...(failed ? [pod('x', 'failed')] : []),
      ]);
    /** The head after the rollout was seen with so many new pods, one look each ten seconds. */
    const head = (counts: readonly number[], failed = false, columns = 100) => {
      const pace = new RolloutPace();
      for (const [index, count] of counts.entries()) pace.see([rollout(count)], index * 10_000);
      const elapsed = (counts.length - 1) * 10_000;
      return rolloutLines([rollout(counts.at(-1) ?? 0, failed)], elapsed, { rows: 1, columns }, pace)[0];
    };

    it('by its own pace', () => {
      assert.equal(head([0, 1, 2]), 'netsvc-node [----------] 2/30 · 0 updating · 0 failed · about 5 min left  00:20');
      assert.equal(head([20, 23, 26]), 'netsvc-node [########--] 26/30 · 0 updating · 0 failed · about 20 s left  00:20');
    });

    it('whole or not at all, however narrow the terminal is', () => {
      const seen = (columns: number) => head([20, 23, 26], false, columns);
      assert.equal(seen(71), 'netsvc-node 26/30 · 0 updating · 0 failed · about 20 s left  00:20');
      assert.equal(seen(54), 'netsvc-node 26/30 · about 20 s left  00:20');
      assert.equal(seen(41), 'netsvc-node 26/30  00:20');
      for (let columns = 20; columns < 100; columns += 1)
        assert.match(seen(columns) ?? '', /^(?!.*about)|about 20 s left {2}00:20$/, `${columns} columns`);
    });

    it('and not where it would be a guess', () => {
      assert.doesNotMatch(head([0, 1]) ?? '', /left/, 'one pod is no pace');
      assert.doesNotMatch(head([12, 12, 12]) ?? '', /left/, 'what was done before was not seen');
      assert.doesNotMatch(head([0, 1, 2, 2, 2, 2, 2]) ?? '', /left/, 'it stands still');
      assert.doesNotMatch(head([0, 1, 2], true) ?? '', /left/, 'it does not end by itself');
    });
  });

  it('says in a soak how much of it is over, in place of pods that are all new, and what is not ready meanwhile', () => {
    const soak = (pods: readonly PodProgress[]) => ({ ...progress(pods), watched: { ms: 750_000, of: 1_800_000 } });
    const line = (pods: readonly PodProgress[], columns = 80) => rolloutLines([soak(pods)], 754_000, { rows: 1, columns })[0];
    const one = [pod('node-01', 'new')];
    assert.equal(line(one), 'netsvc-node [####------] watching node-01: 12m30s of 30m  12:34');
    assert.equal(line(one, 60), 'netsvc-node watching node-01: 12m30s of 30m  12:34');
    assert.equal(rolloutSummary(soak(one)), 'netsvc-node watching node-01: 12m30s of 30m');
    const all = ['n1', 'n2', 'n3', 'n4', 'n5'].map((node) => pod(node, node === 'n2' ? 'updating' : 'new'));
    assert.equal(line(all), 'netsvc-node [####------] watching 5 agents: 12m30s of 30m · 1 updating  12:34');
  });

  it('says why it is not over although every pod is new', () => {
    assert.deepEqual(rolloutLines([progress([pod('a', 'new')], 'old pods are ending')], 3_600_000, ROOM), [
      'netsvc-node [##########] 1/1 · old pods are ending  1:00:00',
    ]);
  });
});

describe('the rollout log', () => {
  it('has a line per pod that changed; running seconds are no change', () => {
    const before = [progress([pod('a', 'updating', 'pulling image, 1 s', 'pulling image'), pod('b', 'old')])];
    const now = [progress([pod('a', 'updating', 'pulling image, 16 s', 'pulling image'), pod('b', 'updating', 'starting')])];
    assert.deepEqual(rolloutChanges(before, now), ['netsvc-node b updating v3.32.2 1/2 starting']);
  });

  it('begins silently', () => assert.deepEqual(rolloutChanges([], [progress([pod('a', 'old')])]), []));

  it('begins with what has failed already, which a continued run would never tell otherwise', () => {
    const stuck = pod('b', 'failed', 'cannot pull image');
    assert.deepEqual(rolloutChanges([], [progress([pod('a', 'old'), stuck])]), ['netsvc-node b failed v3.32.2 2/2 cannot pull image']);
  });
});
