import type { Finding } from '../../src/kernel/check.ts';
import type { Edit } from '../../src/kernel/edit.ts';
import type { RolloutMark, RolloutRow, RolloutTrace } from '../../src/kernel/history.ts';
import type { PlannedObject, PlannedStage } from '../../src/kernel/plan.ts';
import type { ReportFacts } from '../../src/report/model.ts';

const START = Date.UTC(2026, 10, 21, 2, 0, 0);
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();

/** A DaemonSet's rollout, ten nodes at a time; `stuck` nodes never come up. */
export function rolloutOf(nodes: number, stuck: readonly number[] = []): RolloutTrace {
  const rows = Array.from({ length: nodes }, (_, index): RolloutRow => {
    const begins = 5 + Math.floor(index / 10) * 20;
    const last: RolloutMark = stuck.includes(index)
      ? { at: begins + 15, phase: 'failed', why: 'cannot pull image (ImagePullBackOff)' }
      : { at: begins + 15, phase: 'new' };
    const updating: RolloutMark = { at: begins, phase: 'updating', why: 'pulling image or starting' };
    return { node: `node-${String(index + 1).padStart(5, '0')}`, marks: [{ at: 0, phase: 'old', why: 'next' }, updating, last] };
  });
  const seconds = 5 + Math.floor((nodes - 1) / 10) * 20 + 30;
  const of = { stage: 'wait', workload: 'DaemonSet/kube-system/netsvc-node', image: 'example.org/netsvc/node:v3.32.2' };
  return { ...of, startedAt: at(60), seconds, desired: nodes, done: stuck.length === 0, rows };
}

type Word = (text: string) => string;

function edit(outcome: Edit['outcome'], word: Word): Edit {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: word('netsvc-config') };
  const values = { base: word('1440'), mine: word('9000'), theirs: { deep: word('0') } };
  return { ref, path: word('data.mtu'), change: 'change', ...values, source: { kind: 'live', manager: word('anna') }, outcome };
}

function stageOf(id: string, word: Word): PlannedStage {
  return { id, title: word(id), ref: word('§4.8/1'), actions: [], objects: [], notes: [] };
}

function ownedObject(change: { readonly before?: unknown; readonly after?: unknown }, word: Word): PlannedObject {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: word('owned') };
  return { ref, change: 'update', fields: [{ path: 'metadata.ownerReferences[0]', ...change }], hidden: [], taken: [] };
}

/** Every part of a report filled, each text by `word`, which may be anything. */
export function reportOf({
  nodes = 4,
  evidence = 3,
  word = (text: string) => text,
  stuck = [] as readonly number[],
  hosts = 4,
} = {}): ReportFacts {
  const finding = (id: string, outcome: Finding['outcome']): Finding => ({
    ...{ id, title: word('title'), category: 'nodes', ref: word('§1/1'), outcome, message: word('the fact') },
    ...{ hint: word('fix it'), next: word('kubectl get nodes') },
    evidence: Array.from({ length: evidence }, (_, index) => ({ text: word(`Node/${index}`), detail: word('detail') })),
  });
  const plan: PlannedStage = {
    ...{ id: 'apply', title: word('Apply'), ref: word('§4.4/2'), notes: [word('a note')] },
    actions: [
      {
        ...{ id: 'wave-1', title: word('first wave'), ref: word('§4.4/2'), undo: 'partial' },
        effect: { type: 'exec', run: { tool: 'kubectl', args: ['apply', '-f', word('wave 1.yaml')] } },
      },
    ],
    objects: [
      {
        ref: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: word('netsvc-node') },
        change: 'update',
        fields: [{ path: word('spec.x'), before: word('1'), after: { deep: word('2') } }],
        hidden: [word('spec.hidden')],
        taken: [{ path: word('spec.replicas'), manager: word('kube-controller-manager'), subresource: 'scale' }],
        takers: [
          {
            ...{ name: word('HorizontalPodAutoscaler nodes'), kind: 'autoscaler', hint: word('Change its bounds.') },
            ...{ manager: word('kube-controller-manager'), subresource: 'scale', fields: 1 },
          },
        ],
        note: word('two edits kept'),
      },
    ],
    twoWay: [
      {
        ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: word('netsvc-config') },
        ...{ path: word('data.level'), live: word('debug'), target: word('info'), owners: [word('boris')] },
      },
    ],
    edits: [edit('kept', word), edit('already', word), edit('conflict', word)],
  };
  const moved: readonly PlannedStage[] = [
    { ...stageOf('ownerrefs-strip', word), objects: [ownedObject({ before: word('IPPool/blue') }, word)] },
    {
      ...stageOf('hep', word),
      hosts: Array.from({ length: hosts }, (_, index) =>
        index % 50 === 0
          ? {
              node: word(`node-${index}`),
              verdict: 'OPEN',
              detail: word('once host endpoint old is deleted: inbound: now deny; afterwards allow'),
            }
          : { node: word(`node-${index}`), verdict: 'same' },
      ),
    },
    {
      ...stageOf('ownerrefs-restore', word),
      objects: [
        ownedObject({ after: { apiVersion: 'example.org/v3', kind: word('IPPool'), name: word('blue'), uid: word('5f1c') } }, word),
      ],
    },
  ];
  const rollout = rolloutOf(nodes, stuck);
  const rows = rollout.rows.map((row) => ({
    ...row,
    node: word(row.node),
    marks: row.marks.map((mark) => (mark.why ? { ...mark, why: word(mark.why) } : mark)),
  }));
  return {
    title: word('Run report: run'),
    outcome: { code: 'stopped', number: 5 },
    facts: [
      ['target', 'v3.32.2'],
      ['versions', 'v3.27.5 before, v3.32.2 after'],
      ['cluster', word('prod https://10.0.0.1:6443 2c9e')],
    ],
    message: word('a manual step is needed'),
    suggestions: [word('do it')],
    findings: [finding('NS-001', 'ok'), finding('NS-002', 'error'), finding('NS-003', 'warning'), finding('NS-004', 'not-applicable')],
    plans: [plan, ...moved],
    stages: [
      { id: 'preflight', state: 'done', startedAt: at(0), endedAt: at(4) },
      { id: 'crds', state: 'skipped', startedAt: at(4), endedAt: at(4), because: word('in the manifest') },
      { id: 'apply', state: 'failed', startedAt: at(4), endedAt: at(60 + rollout.seconds), because: word('two nodes') },
    ],
    history: {
      startedAt: at(0),
      endedAt: at(60 + rollout.seconds),
      actions: [
        {
          ...{ stage: 'apply', id: 'wave-1', title: word('first wave'), ref: '§4.4/2', outcome: 'failed' },
          startedAt: at(5),
          detail: word('refused'),
        },
      ],
      rollouts: [{ ...rollout, rows, workload: word(rollout.workload), image: word(rollout.image) }],
      notes: [{ at: at(6), stage: 'apply', level: 'warning', text: word('slow') }],
    },
    next: word('kubectl netsvc-upgrade run'),
  };
}
