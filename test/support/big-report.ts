import type { Finding } from '../../src/kernel/check.ts';
import { Command, command } from '../../src/kernel/command.ts';
import type { Edit } from '../../src/kernel/edit.ts';
import type { RolloutMark, RolloutRow, RolloutTrace } from '../../src/kernel/history.ts';
import type { PlannedObject, PlannedStage } from '../../src/kernel/plan.ts';
import type { ReportFacts } from '../../src/report/model.ts';
import { NETSVC_TARGET } from './target.ts';

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
  const of = { stage: 'wait', workload: 'DaemonSet/kube-system/netsvc-node', image: `example.org/netsvc/node:${NETSVC_TARGET}` };
  return { ...of, startedAt: at(60), seconds, desired: nodes, done: stuck.length === 0, rows };
}

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'netsvc-config' };

const edit = (outcome: Edit['outcome']): Edit => ({
  ...{ ref: CONFIG_MAP, path: 'data.mtu', change: 'change', outcome },
  ...{ base: '1440', mine: '9000', theirs: { deep: '0' }, source: { kind: 'live', manager: 'anna' } },
});

const owned = (change: { readonly before?: unknown; readonly after?: unknown }): PlannedObject => ({
  ref: { ...CONFIG_MAP, namespace: 'shop', name: 'owned' },
  ...{ change: 'update', fields: [{ path: 'metadata.ownerReferences[0]', ...change }], hidden: [], taken: [] },
});

const stageOf = (id: string, parts: Partial<PlannedStage>): PlannedStage => ({
  ...{ id, title: id, ref: '§4.8/1', actions: [], objects: [], notes: [], ...parts },
});

/** What an upgrade applies, with everything that a plan can say of it. */
const APPLY: PlannedStage = {
  ...{ id: 'apply', title: 'Apply', ref: '§4.4/2', notes: ['a note'] },
  actions: [
    {
      ...{ id: 'wave-1', title: 'first wave', ref: '§4.4/2', undo: 'partial' },
      effect: { type: 'exec', run: { tool: 'kubectl', args: ['apply', '-f', 'wave 1.yaml'] } },
    },
  ],
  objects: [
    {
      ref: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'netsvc-node' },
      change: 'update',
      fields: [{ path: 'spec.x', before: '1', after: { deep: '2' } }],
      hidden: ['spec.hidden'],
      taken: [{ path: 'spec.replicas', manager: 'kube-controller-manager', subresource: 'scale' }],
      takers: [
        {
          ...{ name: 'HorizontalPodAutoscaler nodes', kind: 'autoscaler', hint: 'Change its bounds.' },
          ...{ manager: 'kube-controller-manager', subresource: 'scale', fields: 1 },
        },
      ],
      note: 'two edits kept',
    },
  ],
  twoWay: [{ ref: CONFIG_MAP, path: 'data.level', live: 'debug', target: 'info', owners: ['boris'] }],
  edits: [edit('kept'), edit('already'), edit('conflict')],
};

/** Fields whose texts mean something to this program. */
const KEPT = new Set([
  ...['id', 'kind', 'apiVersion', 'namespace', 'category', 'outcome', 'undo', 'type', 'tool', 'change', 'subresource'],
  ...['state', 'stage', 'verdict', 'phase', 'level', 'at', 'startedAt', 'endedAt'],
]);

/** Every other text through `word`. */
function worded<T>(value: T, word: (text: string) => string): T {
  const through = (one: unknown, key = ''): unknown => {
    if (typeof one === 'string') return KEPT.has(key) ? one : word(one);
    if (Array.isArray(one)) return one.map((item) => through(item, key));
    if (typeof one !== 'object' || one === null) return one;
    if (one instanceof Command) return one.masked(word);
    return Object.fromEntries(Object.entries(one).map(([name, field]) => [name, through(field, name)]));
  };
  return through(value) as T;
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
    ...{
      id,
      title: 'title',
      category: 'nodes',
      ref: '§1/1',
      outcome,
      message: 'the fact',
      hint: 'fix it',
      next: command`kubectl get nodes`,
    },
    evidence: Array.from({ length: evidence }, (_, index) => ({ text: `Node/${index}`, detail: 'detail' })),
  });
  const detail = 'once host endpoint old is deleted: inbound: now deny; afterwards allow';
  const traffic = Array.from({ length: hosts }, (_, index) => ({
    ...{ node: `node-${index}`, ...(index % 50 === 0 ? { verdict: 'OPEN', detail } : { verdict: 'same' }) },
  })) as PlannedStage['hosts'];
  const rollout = rolloutOf(nodes, stuck);
  const endedAt = at(60 + rollout.seconds);
  const report = {
    title: 'Run report: run',
    message: 'a manual step is needed',
    suggestions: ['do it'],
    findings: [finding('NS-001', 'ok'), finding('NS-002', 'error'), finding('NS-003', 'warning'), finding('NS-004', 'not-applicable')],
    plans: [
      APPLY,
      stageOf('ownerrefs-strip', { objects: [owned({ before: 'IPPool/blue' })] }),
      stageOf('hep', { hosts: traffic }),
      stageOf('ownerrefs-restore', {
        objects: [owned({ after: { apiVersion: 'example.org/v3', kind: word('IPPool'), name: 'blue', uid: '5f1c' } })],
      }),
    ],
    stages: [
      { id: 'preflight', state: 'done', startedAt: at(0), endedAt: at(4) },
      { id: 'crds', state: 'skipped', startedAt: at(4), endedAt: at(4), because: 'in the manifest' },
      { id: 'apply', state: 'failed', startedAt: at(4), endedAt, because: 'two nodes' },
    ],
    history: {
      ...{ startedAt: at(0), endedAt, rollouts: [rollout] },
      actions: [
        { stage: 'apply', id: 'wave-1', title: 'first wave', ref: '§4.4/2', outcome: 'failed', startedAt: at(5), detail: 'refused' },
      ],
      notes: [{ at: at(6), stage: 'apply', level: 'warning', text: 'slow' }],
    },
    next: 'kubectl netsvc-upgrade run',
  } as const;
  return {
    ...worded(report, word),
    outcome: { code: 'stopped', number: 5 },
    facts: [
      ['target', NETSVC_TARGET],
      ['versions', `v3.27.5 before, ${NETSVC_TARGET} after`],
      ['cluster', word('prod https://10.0.0.1:6443 2c9e')],
    ],
  };
}

/** The same whose only action was left to a person. */
export function manualReport(): ReportFacts {
  const { history, ...report } = reportOf();
  const step = {
    stage: 'cli',
    id: 'a',
    title: 'a',
    ref: '§1/4',
    command: 'manual step: look',
    startedAt: 't',
    outcome: 'left-to-person',
  } as const;
  return { ...report, ...(history && { history: { ...history, actions: [step] } }) };
}
