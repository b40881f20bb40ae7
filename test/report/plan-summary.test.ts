import assert from 'node:assert/strict';
import type { Action, Wait } from '../../src/kernel/action.ts';
import type { ActionTrace, RolloutMark, RolloutTrace } from '../../src/kernel/history.ts';
import type { PlannedObject, PlannedStage } from '../../src/kernel/plan.ts';
import type { RolloutTarget } from '../../src/kernel/rollout.ts';
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
    const copied: Action = { ...action, effect: { type: 'backup', folder: 'f', files: [] } };
    const stages = [of('backup', { actions: [copied] }), of('apply', { actions: [action, action], objects: [agents(), controllers] })];
    assert.equal(
      planSummary(stages),
      '0 to add, 2 to change, 0 to remove, 7 restarts on 6 nodes, one at a time · 3 steps · data plane not known: with iptables or nftables, routes and rules stay in the kernel while an agent restarts; with eBPF, connections through a node can break when its agent restarts · backup first',
    );
    assert.equal(planSummary([]), '0 to add, 0 to change, 0 to remove, 0 restarts · 0 steps');
    assert.match(planSummary(applies(controllers)), /, 1 restart · 1 step$/);
  });

  it('counts what it removes', () => {
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'k', name: 's', uid: 'u' };
    const removes: Action = { ...action, effect: { type: 'delete', target: ref } as never };
    assert.match(planSummary([of('policy', { actions: [removes] })]), /^0 to add, 0 to change, 1 to remove, /);
  });

  it('counts the pods that an operator restarts', () => {
    const ref = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'k', name: 'node' };
    assert.match(
      planSummary([of('apply', { restarts: [{ ref, pods: 4, atOnce: 2 }] })]),
      /, 4 restarts on 4 nodes, 2 at a time · 1 step · data plane not known: with iptables or nftables, routes and rules stay in the kernel while an agent restarts; with eBPF, connections through a node can break when its agent restarts$/,
    );
  });

  it('says nothing of the pace where the controller does not begin by itself', () => {
    assert.match(
      planSummary([of('apply', { objects: [workload('DaemonSet', 'node', { restarts: 6 })] })], {
        rollouts: [trace(took(0, 9))],
        actions: [],
      }),
      /on 6 nodes · 1 step · data plane not known: with iptables or nftables, routes and rules stay in the kernel while an agent restarts; with eBPF, connections through a node can break when its agent restarts$/,
    );
  });

  it('tells about how long it takes by what a node took before, and by how many are taken at a time', () => {
    const former = { rollouts: [trace(took(0, 30), took(30, 30), took(60, 900))], actions: [] };
    assert.match(planSummary(applies(agents()), former), / · about 3 min$/);
    assert.match(planSummary(applies(agents({ atOnce: 3 })), former), / · about 60 s$/);
    assert.match(planSummary(applies(agents({ restarts: 600 })), former), / · about 5 h$/);
  });

  it('has no time where it would be a guess: no rollout of agents was seen from beginning to end', () => {
    const open = trace([{ at: 0, phase: 'updating' }], [{ at: 0, phase: 'new' }]);
    for (const former of [[], [open], [{ ...trace(took(0, 30)), workload: 'Deployment/k/controllers' }]])
      assert.doesNotMatch(planSummary(applies(agents()), { rollouts: former, actions: [] }), /about/);
  });

  describe('with other waits than that for the agents', () => {
    const target = (kind: 'DaemonSet' | 'Deployment', name: string): RolloutTarget => ({
      ...{ kind, namespace: 'k', name, container: 'c', image: 'i', ready: { type: 'all-containers' } },
    });
    const wait = (id: string, until: Wait['until']): Action => ({ ...action, id, effect: { type: 'wait', until, timeoutMs: 1 } });
    const rolling = (id: string, ...targets: RolloutTarget[]) => wait(id, { type: 'rollout', targets, maxFailed: 0 });
    const nodes = rolling('wait-all', target('DaemonSet', 'node'), target('Deployment', 'controllers'));
    const stages = [
      of('crds', { actions: [wait('served', { type: 'crds-established', names: [] })] }),
      of('apply', { objects: [agents()], actions: [nodes] }),
      of('wait', { actions: [rolling('rollout', target('DaemonSet', 'node'))] }),
      of('alp', { actions: [rolling('wait-1', target('Deployment', 'shop'))] }),
    ];
    const shop = { ...trace(), stage: 'alp', workload: 'Deployment/k/shop', seconds: 400 };
    const rollouts = [trace(took(0, 30))];
    const served: ActionTrace = {
      ...{ stage: 'crds', id: 'served', title: 't', ref: 'r', startedAt: '', durationMs: 20_000, outcome: 'done' },
    };

    it('adds what each took before; what is waited for twice counts once', () => {
      assert.match(planSummary(stages, { rollouts: [...rollouts, shop], actions: [served] }), / · about 10 min$/);
    });

    it('says that it is the rollout alone where one of them is not known, or is planned later', () => {
      assert.match(planSummary(stages, { rollouts, actions: [served] }), / · rollout about 3 min$/);
      assert.match(
        planSummary(stages, { rollouts: [...rollouts, { ...shop, done: false }], actions: [served] }),
        / · rollout about 3 min$/,
      );
      const later = of('hep', { actions: [], notes: ['hep: planned when its turn comes'] });
      assert.match(planSummary([...stages, later], { rollouts: [...rollouts, shop], actions: [served] }), / · rollout about 3 min$/);
    });

    it('goes by the wait for an operator where that replaces the agents, and not below their own pace', () => {
      const restarts = [{ ref: agents().ref, pods: 6, atOnce: 1 }];
      const operated = [of('wait', { restarts, actions: [wait('operator', { type: 'apiservice-available', names: [] })] })];
      const took = (durationMs: number) => ({ rollouts, actions: [{ ...served, stage: 'wait', id: 'operator', durationMs }] });
      assert.match(planSummary(operated, took(300_000)), / · about 5 min$/);
      assert.match(planSummary(operated, took(60_000)), / · about 3 min$/);
    });
  });
});
