import assert from 'node:assert/strict';
import type { Action } from '../../src/kernel/action.ts';
import type { RolloutMark, RolloutTrace } from '../../src/kernel/history.ts';
import type { PlannedObject, PlannedStage } from '../../src/kernel/plan.ts';
import { planSummary } from '../../src/report/plan-summary.ts';

const action: Action = { id: 'a', title: 'a', ref: 'r', undo: 'full', effect: { type: 'ask', instruction: 'x' } };
const of = (id: string, more: Partial<PlannedStage> = {}): PlannedStage => ({
  id,
  title: id,
  ref: 'r',
  actions: [action],
  objects: [],
  notes: [],
  ...more,
});
const workload = (kind: string, name: string, more: Partial<PlannedObject>): PlannedObject => ({
  ...{ ref: { apiVersion: 'apps/v1', kind, namespace: 'k', name }, change: 'update', fields: [], hidden: [], taken: [] },
  ...more,
});
const agents = (more: Partial<PlannedObject> = {}) => workload('DaemonSet', 'node', { restarts: 6, atOnce: 1, ...more });
const applies = (...objects: PlannedObject[]) => [of('apply', { objects })];

/** Of nodes that were each seen so. */
const trace = (...rows: (readonly RolloutMark[])[]): RolloutTrace => ({
  ...{ stage: 'apply', workload: 'DaemonSet/k/node', image: 'i', startedAt: '', seconds: 0, desired: rows.length, done: true },
  rows: rows.map((marks, index) => ({ node: `node-${index}`, marks })),
});
const took = (from: number, seconds: number): readonly RolloutMark[] => [
  { at: 0, phase: 'old' },
  { at: from, phase: 'updating' },
  { at: from + seconds, phase: 'new' },
];

describe('the summary of a plan', () => {
  it('says what a person agrees to', () => {
    const controllers = workload('Deployment', 'controllers', { restarts: 1 });
    const stages = [
      of('backup'),
      of('apply', { actions: [action, { ...action, pointOfNoReturn: 'policies are renamed' }], objects: [agents(), controllers] }),
    ];
    assert.equal(
      planSummary(stages),
      '0 create, 2 update · 3 steps · restarts 7 pods on 6 nodes, one at a time · running pods keep their network · backup first · no undo after step 3 (policies are renamed)',
    );
    assert.equal(planSummary([]), '0 create, 0 update · 0 steps');
    assert.match(planSummary(applies(controllers)), / · restarts 1 pod$/);
  });

  it('counts the pods that an operator restarts', () => {
    const ref = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'k', name: 'node' };
    assert.match(
      planSummary([of('apply', { restarts: [{ ref, pods: 4, atOnce: 2 }] })]),
      / · restarts 4 pods on 4 nodes, 2 at a time · running pods keep their network$/,
    );
  });

  it('says nothing of the pace where the controller does not begin by itself', () => {
    assert.match(
      planSummary([of('apply', { objects: [workload('DaemonSet', 'node', { restarts: 6 })] })], [trace(took(0, 9))]),
      /on 6 nodes · running pods keep their network$/,
    );
  });

  it('tells about how long it takes by what a node took before, and by how many are taken at a time', () => {
    const former = [trace(took(0, 30), took(30, 30), took(60, 900))];
    assert.match(planSummary(applies(agents()), former), / · about 3 min$/);
    assert.match(planSummary(applies(agents({ atOnce: 3 })), former), / · about 60 s$/);
    assert.match(planSummary(applies(agents({ restarts: 600 })), former), / · about 5 h$/);
  });

  it('has no time where it would be a guess: no rollout of agents was seen from beginning to end', () => {
    const open = trace([{ at: 0, phase: 'updating' }], [{ at: 0, phase: 'new' }]);
    for (const former of [[], [open], [{ ...trace(took(0, 30)), workload: 'Deployment/k/controllers' }]])
      assert.doesNotMatch(planSummary(applies(agents()), former), /about/);
  });
});
