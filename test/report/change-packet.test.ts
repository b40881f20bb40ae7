import assert from 'node:assert/strict';
import type { Action } from '../../src/kernel/action.ts';
import type { Finding } from '../../src/kernel/check.ts';
import type { PlannedObject, PlannedStage } from '../../src/kernel/plan.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { plainText } from '../../src/kernel/step.ts';
import { NO_RETURNS } from '../../src/kernel/undo.ts';
import { changePacket } from '../../src/report/change-packet.ts';

const action = (id: string, more: Partial<Action> = {}): Action => ({
  ...{ id, title: id, ref: 'r', undo: 'full', effect: { type: 'exec', run: { tool: 'kubectl', args: [] } } },
  ...more,
});
const stage = (id: string, actions: readonly Action[], more: Partial<PlannedStage> = {}): PlannedStage => ({
  ...{ id, title: `title of ${id}`, ref: 'r', actions, objects: [], notes: [] },
  ...more,
});
const workload = (kind: string, name: string, restarts: number, atOnce?: number): PlannedObject => ({
  ...{
    ref: { apiVersion: 'apps/v1', kind, namespace: 'kube-system', name },
    change: 'update',
    fields: [],
    hidden: [],
    taken: [],
    restarts,
  },
  ...(atOnce === undefined ? {} : { atOnce }),
});
const finding = (id: string, outcome: Finding['outcome'], message: string, ...evidence: readonly string[]) =>
  ({
    id,
    outcome,
    message,
    title: '',
    category: 'x',
    severity: 'error',
    ref: 'r',
    evidence: evidence.map((text) => ({ text })),
  }) as unknown as Finding;
const ask = action('ask', { effect: { type: 'ask', instruction: 'do it' } });
const known = (id: string, more: Partial<AnyStage>) =>
  ({ id, title: id, ref: 'r', readOnly: false, checks: [], ...more }) as unknown as AnyStage;
const CHAIN = [
  known('ownerrefs-strip', { undoneBy: 'ownerrefs restore --undo', reaches: 'references' }),
  known('apply', { reaches: 'workloads' }),
  known('alp', { undoneBy: 'alp --undo' }),
];
const HEAD = { path: 'manifest', source: 'v3.27.5', release: 'v3.32.1', nodes: 6, clusterUid: 'u', digest: 'd' };
const STAGES = [
  stage('preflight', []),
  stage('ownerrefs-strip', [action('s')]),
  stage('apply', [action('a'), action('b', { pointOfNoReturn: 'tables' }), action('c')], {
    objects: [workload('DaemonSet', 'calico-node', 6, 2), workload('Deployment', 'calico-kube-controllers', 1)],
    edits: [
      {
        ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'k', name: 'c' },
        path: 'data.x',
        change: 'change',
        source: { kind: 'live' },
        outcome: 'obsolete',
      },
      {
        ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'k', name: 'c' },
        path: 'data.y',
        change: 'change',
        source: { kind: 'live' },
        outcome: 'kept',
      },
    ],
  }),
  stage('alp', [action('d'), ask]),
];
const packet = (more: Partial<Parameters<typeof changePacket>[0]> = {}) =>
  changePacket({ head: HEAD, stages: STAGES, findings: [finding('NS-001', 'ok', 'reachable')], chain: CHAIN, keepsYours: true, ...more });

describe('what a change board asks', () => {
  it('has as risks the open checks, what of yours is lost and what cannot be undone', () => {
    assert.deepEqual(packet().risk, [
      `No undo after step 3. ${NO_RETURNS.tables.long}`,
      'Your change is lost: ConfigMap/k/c data.x',
      'No check speaks against it: 1 check passed.',
    ]);
    const findings = [finding('NS-802', 'warning', 'an older CLI'), finding('NS-201', 'accepted', 'one edit'), finding('NS-001', 'ok', '')];
    assert.deepEqual(packet({ findings }).risk.slice(0, 2), ['NS-802, warning: an older CLI', 'NS-201, accepted: one edit']);
    assert.doesNotMatch(packet({ findings }).risk.join('\n'), /No check speaks/);
  });

  it('has what restarts, how fast, and what that means for traffic', () => {
    const { impact } = packet();
    assert.equal(impact[0], 'v3.27.5 → v3.32.1 on 6 nodes.');
    assert.match(impact[1] ?? '', /^0 to add, 2 to change, 0 to remove, 7 restarts on 6 nodes, 2 at a time/);
    assert.equal(impact[2], 'DaemonSet/kube-system/calico-node restarts: 6 pods, 2 at a time.');
    assert.equal(impact[3], 'Deployment/kube-system/calico-kube-controllers restarts: 1 pod.');
    assert.match(
      impact[4] ?? '',
      /^While an agent restarts: .*eBPF.*\. Meanwhile not possible on that node: new pods, changed policies\.$/,
    );
    assert.match(packet({ dataPlane: 'standard' }).impact[4] ?? '', /^While an agent restarts: routes and rules stay in the kernel/);
    assert.equal(packet({ stages: [stage('cli', [ask])] }).impact.length, 2, 'nothing restarts');
  });

  it('has the stages in their order with the numbers of the plan', () => {
    assert.deepEqual(packet().order, [
      'ownerrefs-strip, step 1: title of ownerrefs-strip',
      'apply, steps 2–4: title of apply (no undo after step 3)',
      'alp, steps 5–6: title of alp',
    ]);
  });

  it('has the duration by earlier runs, else by the number of rounds, and says which', () => {
    assert.deepEqual(packet().duration, [
      'Not known: no earlier run on this cluster was seen from beginning to end.',
      'The agents are replaced in 3 rounds. With 30 s each that is about 90 s; pulling the image adds its own time.',
    ]);
    const row = {
      node: 'n',
      marks: [
        { at: 0, phase: 'updating' as const },
        { at: 60, phase: 'new' as const },
      ],
    };
    const trace = {
      stage: 'apply',
      workload: 'DaemonSet/kube-system/calico-node',
      image: 'i',
      startedAt: '',
      seconds: 60,
      desired: 1,
      done: true,
      rows: [row],
    };
    assert.match(
      packet({ former: { rollouts: [trace], actions: [] } }).duration[0] ?? '',
      /about 3 min, by earlier runs on this cluster\.$/,
    );
  });

  it('has how to go back from each point that is reached on this path, by the one table of undo', () => {
    const backout = packet().backout.map(plainText);
    assert.match(backout[0] ?? '', /^Once ownerReferences are removed: kubectl netsvc-upgrade ownerrefs restore --undo, then /);
    assert.match(backout[1] ?? '', /^Once the manifest is applied, in part or whole: kubectl netsvc-upgrade rollback/);
    assert.match(backout[2] ?? '', /^Once an agent is new, from v3\.30 or older \(eBPF\): nothing \(fix what is named/);
    assert.deepEqual(backout.slice(3), ['alp alone: kubectl netsvc-upgrade alp --undo']);
    const tables = stage('apply', [action('a', { pointOfNoReturn: 'tables' })]);
    assert.match(packet({ stages: [tables] }).backout.join('\n'), /^Once an agent is new, from v3\.30 or older \(eBPF\): nothing/m);
    const operator = packet({
      head: { ...HEAD, path: 'operator' },
      stages: [stage('apply', [action('a', { pointOfNoReturn: 'operator' })])],
    });
    assert.deepEqual(operator.backout.length, 1);
    assert.match(plainText(operator.backout[0] ?? ''), /^Once the new operator is applied, from v3\.29 or older: nothing/);
    assert.equal(operator.risk[0], `No undo after step 1. ${NO_RETURNS.operator.long}`);
    assert.doesNotMatch(packet({ head: { ...HEAD, path: 'operator' } }).backout.join('\n'), /RESTORE\.md/, 'there it does not help');
    assert.deepEqual(packet({ stages: [stage('cli', [ask])] }).backout, ['Nothing of the service is changed.']);
  });

  it('asks what somebody has to decide', () => {
    const findings = [finding('NS-201', 'error', 'conflict', 'a', 'b', 'c', 'd'), finding('NS-802', 'warning', 'w')];
    assert.deepEqual(packet({ findings }).questions, [
      'Before it can begin, NS-201 has to be decided or fixed: a, b, c and 1 more',
      'Who accepts NS-802?',
      'Who does the manual step below?',
      'Who decides to go beyond step 3?',
      'Who says go, and who says stop?',
    ]);
  });
});
