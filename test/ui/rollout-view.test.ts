import assert from 'node:assert/strict';
import type { PodPhase, PodProgress, RolloutProgress } from '../../src/core/rollout.ts';
import { rolloutChanges, rolloutLines } from '../../src/ui/rollout-view.ts';

const target = {
  kind: 'DaemonSet',
  namespace: 'kube-system',
  name: 'netsvc-node',
  container: 'c',
  image: 'i',
  ready: { type: 'all-containers' },
} as const;
const pod = (node: string, phase: PodPhase, why = ''): PodProgress => ({
  node,
  pod: `p-${node}`,
  phase,
  release: phase === 'old' ? 'v3.26.4' : 'v3.32.2',
  ready: phase === 'updating' ? '1/2' : '2/2',
  why,
});
const progress = (pods: readonly PodProgress[], pending = ''): RolloutProgress => ({
  target,
  desired: pods.length,
  pods,
  done: false,
  pending,
});

describe('the rollout table', () => {
  it('counts, and shows what hangs first and what is done not at all', () => {
    const pods = [
      pod('node-10', 'old', 'next'),
      pod('node-9', 'old'),
      pod('node-8', 'updating', 'pulling image, 41 s'),
      pod('node-1', 'new'),
    ];
    assert.deepEqual(rolloutLines([progress(pods)], 134_000), [
      'netsvc-node 1/4 new · 1 updating · 0 failed  02:14',
      'NODE     AGENT    READY  WHY',
      'node-8   v3.32.2  1/2    pulling image, 41 s',
      'node-9   v3.26.4  2/2',
      'node-10  v3.26.4  2/2    next',
    ]);
  });

  it('fits a screen on a large cluster', () => {
    const pods = Array.from({ length: 1000 }, (_, index) => pod(`n${index}`, 'old'));
    const lines = rolloutLines([progress(pods)], 0);
    assert.equal(lines.length, 15);
    assert.equal(lines.at(-1), '… and 988 more');
  });

  it('says why it is not over although every pod is new', () => {
    assert.deepEqual(rolloutLines([progress([pod('a', 'new')], 'old pods are ending')], 3_600_000), [
      'netsvc-node 1/1 new · 0 updating · 0 failed · old pods are ending  1:00:00',
    ]);
  });
});

describe('the rollout log', () => {
  it('has a line per pod that changed; running seconds are no change', () => {
    const before = [progress([pod('a', 'updating', 'pulling image, 1 s'), pod('b', 'old')])];
    const now = [progress([pod('a', 'updating', 'pulling image, 16 s'), pod('b', 'updating', 'starting')])];
    assert.deepEqual(rolloutChanges(before, now), ['netsvc-node b updating v3.32.2 1/2 starting']);
  });

  it('begins silently', () => assert.deepEqual(rolloutChanges([], [progress([pod('a', 'old')])]), []));
});
