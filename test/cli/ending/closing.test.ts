import assert from 'node:assert/strict';
import { CHAINS } from '../../../src/cli/command-names.ts';
import { effects } from '../../../src/cli/effects.ts';
import { closingLines } from '../../../src/cli/ending/closing.ts';
import type { Outcome } from '../../../src/cli/ending/run.ts';
import { chain } from '../../../src/features/chain.ts';
import type { Action } from '../../../src/kernel/action.ts';
import type { ActionTrace } from '../../../src/kernel/history.ts';
import type { DataPlane } from '../../../src/kernel/installation.ts';
import type { PlannedObject, PlannedStage } from '../../../src/kernel/plan.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { impact } from '../../../src/kernel/step.ts';
import { RECORD } from '../../fixtures/stored-record.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const record: RunRecord = {
  ...RECORD,
  ...{ target: CALICO_TARGET, startedAt: '2026-11-21T02:00:00Z' },
  wrote: ['crds', 'apply'],
  noReturn: { point: 'tables', at: '2026-11-21T02:01:00Z' },
};
const apply = { type: 'exec', run: { tool: 'kubectl', args: ['apply'] } } as const;
const plan = {
  ...{ id: 'apply', title: 't', ref: 'r', objects: [], notes: [] },
  actions: [{ id: 'a', title: 't', ref: 'r', undo: 'full', effect: apply }],
} as const;
const action = {
  stage: 'apply',
  id: 'a',
  title: 't',
  ref: 'r',
  startedAt: '2026-11-21T02:02:00Z',
  durationMs: 1,
  outcome: 'done',
} as const;
const outcome: Outcome = {
  ...{ exit: 'done', findings: [], plans: [plan], writes: 1, steps: [], record },
  stages: [{ id: 'verify', state: 'done', startedAt: '2026-11-21T02:03:00Z' }],
  history: { startedAt: '2026-11-21T02:02:00Z', endedAt: '2026-11-21T02:03:00Z', actions: [action], rollouts: [], notes: [] },
};
const closing = (more: Partial<Outcome>, isBlock = false) =>
  closingLines({
    ...{ of: CHAINS.run, chain, effects, isDryRun: false, isBlock, now: new Date('2026-11-21T02:03:00Z') },
    ...{ outcome: { ...outcome, ...more }, before: record },
  });

describe('the closing of a run that was resumed', () => {
  it('says what earlier parts changed, though it is the same stage, and that there is no undo any more', () => {
    assert.deepEqual(closing({ earlier: ['apply'] }), [
      'Changed by this command: apply.',
      'Earlier parts of this run, begun 3m ago, changed: apply.',
      'Data plane not known: with iptables or nftables, routes and rules stay in the kernel while an agent restarts; with eBPF, connections through a node can break when its agent restarts. This program measured no traffic of running pods.',
      'The upgrade is done; there is no undo any more. In eBPF mode new agents keep connections in a table that older agents refuse. A node whose agent is new cannot get its old agent back, short of a restart of the node, which was not tried.',
    ]);
  });

  it('says of each data plane by what running pods keep their network, and claims nothing that was not measured', () => {
    const lineOf = (dataPlane: RunRecord['dataPlane']) => closing({ record: { ...record, ...(dataPlane ? { dataPlane } : {}) } })[2];
    const end = 'This program measured no traffic of running pods.';
    assert.equal(lineOf('standard'), `Routes and rules stay in the kernel while an agent restarts. ${end}`);
    assert.equal(lineOf('ebpf'), `Connections through a node can break when its agent restarts. ${end}`);
  });

  it('says of each data plane what a stop means, where the stop itself does not', () => {
    const lineOf = (dataPlane: DataPlane) => closing({ exit: 'failed', record: { ...record, dataPlane } })[2];
    const end = 'New pods get no network on a node whose agent is not ready.';
    assert.equal(
      lineOf('standard'),
      `Routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes. ${end}`,
    );
    assert.match(lineOf('ebpf') ?? '', /^Connections through nodes whose agent restarted may have broken, .* New pods get no network/);
  });

  it('says that nothing was restarted where only references or CRDs were written', () => {
    const crds = { ...plan, id: 'crds' };
    const history = { ...outcome.history, actions: [{ ...action, stage: 'crds' }] } as Outcome['history'];
    const lines = closingLines({
      ...{ of: CHAINS.crds, chain, effects, isDryRun: false, now: new Date('2026-11-21T02:03:00Z') },
      outcome: { ...outcome, plans: [crds], history, record: undefined } as Outcome,
    });
    assert.deepEqual(lines, ['Changed by this command: crds.', 'Nothing that forwards packets of pods was restarted.']);
  });

  it('gives to earlier parts nothing that this one changed, and all of it where this one changed nothing', () => {
    assert.equal(closing({ earlier: ['crds'] })[1], 'Earlier parts of this run, begun 3m ago, changed: crds.');
    assert.deepEqual(closing({ writes: 0 }).slice(0, 2), [
      'Nothing was changed by this command.',
      'Earlier parts of this run, begun 3m ago, changed: crds, apply.',
    ]);
  });

  it('says what a stop means for traffic in the words of the stop, but right below its block', () => {
    const stopped = {
      exit: 'stopped',
      steps: [impact('routes and rules stay', 'new pods on n1 get no network')],
      earlier: ['apply'],
    } as const;
    assert.equal(closing(stopped).at(-1), 'Routes and rules stay. New pods on n1 get no network.');
    assert.equal(closing(stopped, true).at(-1), 'Earlier parts of this run, begun 3m ago, changed: apply.');
  });
});

describe('what a command changed', () => {
  const exec = (id: string): Action => ({ id, title: 't', ref: 'r', undo: 'full', effect: apply });
  const objects = (kinds: Readonly<Record<string, number>>, more: Partial<PlannedObject>): readonly PlannedObject[] =>
    Object.entries(kinds).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, index) => ({
        ...({ ref: { apiVersion: 'v1', kind, name: `n${index}` }, change: 'update', fields: [], hidden: [], taken: [], ...more } as const),
      })),
    );
  const planned: PlannedStage = {
    ...{ id: 'apply', title: 't', ref: 'r', notes: [], actions: [exec('one'), exec('two')] },
    objects: [
      ...objects({ ClusterRole: 12, CustomResourceDefinition: 5, ConfigMap: 2 }, { by: 'one' }),
      ...objects({ DaemonSet: 1, Deployment: 1 }, { by: 'two' }),
      ...objects({ Service: 3 }, { by: 'one', change: 'unchanged' }),
    ],
  };
  const done = (stage: string, id: string, end: 'done' | 'failed' = 'done') => ({ ...action, stage, id, outcome: end });
  const changed = (exit: Outcome['exit'], plans: readonly PlannedStage[], ...actions: ActionTrace[]) =>
    closing({ exit, plans, writes: 2, history: { startedAt: '', endedAt: '', actions, rollouts: [], notes: [] } })[0];

  it('is counted by kind, the most important ones first', () => {
    assert.equal(
      changed('done', [planned], done('apply', 'one'), done('apply', 'two')),
      'Changed by this command: 1 DaemonSet, 1 Deployment, 5 CRDs and 14 others (apply).',
    );
  });

  it('has nothing of a step that failed, and says that it may have changed something', () => {
    assert.equal(
      changed('failed', [planned], done('apply', 'one'), done('apply', 'two', 'failed')),
      'Changed by this command: 5 CRDs, 12 ClusterRoles, 2 ConfigMaps (apply). The step that did not end may have changed more.',
    );
    const history = { startedAt: '', endedAt: '', actions: [done('apply', 'one', 'failed')], rollouts: [], notes: [] };
    assert.equal(
      closing({ exit: 'failed', plans: [planned], writes: 0, history })[0],
      'The step that did not end may have changed something.',
    );
  });

  it('counts a step that had to be repeated, and objects of all steps of a stage only when all are done', () => {
    const strip: PlannedStage = { ...planned, id: 'ownerrefs-strip', objects: objects({ NetworkPolicy: 2 }, {}) };
    const again = [done('ownerrefs-strip', 'one', 'failed'), done('ownerrefs-strip', 'one')];
    assert.equal(
      changed('done', [strip], ...again, done('ownerrefs-strip', 'two')),
      'Changed by this command: 2 NetworkPolicies (ownerrefs-strip).',
    );
    assert.equal(changed('interrupted', [strip], ...again), 'Changed by this command: ownerrefs-strip.');
  });

  it('names stages that plan no objects, or the targets of their patches', () => {
    const cli: PlannedStage = { ...planned, id: 'cli', objects: [] };
    assert.equal(
      changed('done', [planned, cli], done('apply', 'two'), done('cli', 'one')),
      'Changed by this command: 1 DaemonSet, 1 Deployment (apply), cli.',
    );
    const patches = [{ target: { apiVersion: 'v1', kind: 'Node', name: 'a' }, patch: [], uid: 'u' }];
    const label: Action = { ...exec('one'), effect: { type: 'patch-all', what: 'nodes labelled', patches } };
    assert.equal(changed('done', [{ ...cli, id: 'hep', actions: [label] }], done('hep', 'one')), 'Changed by this command: 1 Node (hep).');
  });

  it('has each kind that was removed, also by a later plan of the stage, and not what a step that failed was to remove', () => {
    const [first = assert.fail(), ...more] = ['ClusterRole', 'ClusterRoleBinding', 'ConfigMap', 'Service'].map((kind) => ({
      ...{ apiVersion: 'v1', kind, name: 'n' },
    }));
    const drop: Action = { ...exec('drop'), effect: { type: 'delete', target: first } };
    const dropped = (stage: string) => ({ ...done(stage, 'drop'), removed: [first] });
    const all = [done('apply', 'two'), dropped('apply')];
    const rollback: PlannedStage = { ...planned, actions: [...planned.actions, drop] };
    assert.equal(
      changed('done', [rollback], ...all, { ...done('apply', 'late'), removed: more }),
      'Changed by this command: 1 DaemonSet, 1 Deployment (apply); removed 1 ClusterRole, 1 ClusterRoleBinding, 1 ConfigMap, 1 Service (apply).',
    );
    const text = changed('failed', [rollback], ...all, { ...done('apply', 'late', 'failed'), removed: more });
    assert.match(text ?? '', /; removed 1 ClusterRole \(apply\)\.$/);
    const alone: PlannedStage = { ...rollback, id: 'policy', objects: [], actions: [drop] };
    assert.equal(changed('done', [alone], dropped('policy')), 'Changed by this command: removed 1 ClusterRole (policy).');
    const both: PlannedStage = { ...alone, id: 'hep', actions: [exec('one'), drop] };
    assert.equal(changed('done', [both], done('hep', 'one'), dropped('hep')), 'Changed by this command: hep; removed 1 ClusterRole (hep).');
  });
});
