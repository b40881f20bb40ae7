import assert from 'node:assert/strict';
import { agentLags, type OperatorView, otherLags } from '../../../src/features/install-operator/operator-causes.ts';
import { operatorLags } from '../../../src/features/install-operator/operator-verdict.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { after, viewOf } from '../../support/operator-script.ts';

const NOW = Date.parse('2026-11-24T04:00:00Z');
const SYSTEM = 'calico-system';
const labels = { 'k8s-app': 'calico-node' };

interface PodParts {
  readonly namespace?: string;
  readonly node?: string;
  readonly ageS?: number;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly status?: object;
  readonly labels?: Readonly<Record<string, string>>;
}

function pod(
  name: string,
  { namespace = SYSTEM, node = 'node-1', ageS = 120, phase, ready = false, status, ...parts }: PodParts,
): KubeObject {
  const creationTimestamp = new Date(NOW - ageS * 1000).toISOString();
  const containerStatuses = [{ name: 'calico-node', ready, restartCount: 0 }];
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels: parts.labels ?? labels, creationTimestamp } },
    spec: { nodeName: node, containers: [{ name: 'calico-node', image: 'x' }] },
    status: { phase: phase ?? (ready ? 'Running' : 'Pending'), conditions, containerStatuses, ...status },
  };
}

const node = (name: string, ready: boolean): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name } },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', reason: 'KubeletNotReady' }] },
});

/** Everything is there but the agents: three of four pods are ready, and statuses and release say so in their own ways. */
function view(pods: readonly KubeObject[], more: Partial<OperatorView> = {}): OperatorView {
  const base = viewOf(
    { ...after, node: { ...after.node, updated: 1, ready: 1 }, version: 'v3.27.5', statuses: { calico: ['rolling', 4] } },
    0,
  );
  const workloads = base.workloads.map((one) =>
    one.kind === 'DaemonSet'
      ? { ...one, metadata: { ...one.metadata, namespace: SYSTEM }, spec: { ...(one.spec as object), selector: { matchLabels: labels } } }
      : one,
  );
  return { ...base, workloads, pods, nodes: [node('node-1', true), node('node-bad', false)], timeMs: NOW, ...more };
}

const good = pod('calico-node-good', { ready: true });
const waiting = (reason: string, more: object = {}) => ({
  containerStatuses: [{ name: 'calico-node', ready: false, restartCount: 0, state: { waiting: { reason } }, ...more }],
});

describe('why a workload of the operator is late', () => {
  const cases: readonly (readonly [string, KubeObject, RegExp, string | undefined])[] = [
    [
      'a pod on a node that is not ready, with the node, its age and the reason',
      pod('calico-node-txw2t', { node: 'node-bad' }),
      /· 1\/2 ready · node-bad: calico-node-txw2t Pending 2m: its node is not ready \(KubeletNotReady\)$/,
      'kubectl -n calico-system describe pod calico-node-txw2t',
    ],
    [
      'a pod that no node takes, with the scheduler’s words',
      pod('calico-node-a', { node: '', status: { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/4 nodes: taint' }] } }),
      /calico-node-a Pending 2m: 0\/4 nodes: taint$/,
      'kubectl -n calico-system describe pod calico-node-a',
    ],
    [
      'an image that cannot be pulled',
      pod('calico-node-b', { status: waiting('ImagePullBackOff') }),
      /node-1: calico-node-b Pending 2m: ImagePullBackOff in container calico-node$/,
      'kubectl -n calico-system describe pod calico-node-b',
    ],
    [
      'a container that ends again and again, with its log',
      pod('calico-node-c', {
        phase: 'Running',
        status: waiting('CrashLoopBackOff', { restartCount: 7, lastState: { terminated: { exitCode: 1 } } }),
      }),
      /calico-node-c Running 2m: CrashLoopBackOff in container calico-node, last exit 1, 7 restarts$/,
      'kubectl -n calico-system logs calico-node-c -c calico-node --previous',
    ],
    ['nobody, while a pod has only begun', pod('calico-node-d', { ageS: 5 }), /of 3 pods are updated$/, undefined],
  ];
  for (const [what, late, words, command] of cases) {
    it(`names ${what}`, () => {
      const lag = operatorLags(view([good, late])).find(({ subject }) => subject.endsWith('/calico-node'));
      assert.match(lag?.why ?? '', words);
      assert.equal(lag?.command && String(lag.command), command);
    });
  }

  it('tells causes before their symptoms: pods, API, what is degraded, then other statuses and the release', () => {
    const secret = { reason: 'ResourceReadError', message: 'Secret "x" not found' };
    const late = view([good, pod('calico-node-txw2t', { node: 'node-bad' })]);
    const degraded = viewOf({ ...after, statuses: { ...after.statuses, tiers: [secret], calico: ['rolling', 4] } }, 0).statuses;
    const lags = operatorLags({ ...late, statuses: degraded, apiService: undefined });
    const subjects = lags.map(({ subject }) => subject);
    assert.deepEqual(
      lags.slice(0, 2).map(({ object }) => object?.kind),
      ['DaemonSet', 'APIService'],
    );
    const missing = agentLags({ ...late, workloads: [] });
    assert.deepEqual(
      missing.map(({ subject, why }) => [subject, why]),
      [['DaemonSet/calico-node', 'does not exist']],
    );
    const beside = otherLags({ ...late, workloads: [] }).map(({ subject }) => subject);
    assert.deepEqual(beside, ['DaemonSet/calico-node'], 'neither the controllers nor Typha');
    assert.deepEqual(subjects.slice(0, 3), [
      'DaemonSet/calico-system/calico-node',
      'APIService/v3.projectcalico.org',
      'TigeraStatus/tiers',
    ]);
    assert.match(lags[2]?.why ?? '', /^Degraded is True \(ResourceReadError: Secret "x" not found\)$/);
    assert.equal(subjects.at(-1), 'Installation/default');
  });

  it('names the pod of an operator that does not start', () => {
    const own = { name: 'tigera-operator' };
    const base = view([]);
    const deployment = {
      ...(base.deployment ?? assert.fail()),
      metadata: { name: 'tigera-operator', namespace: 'tigera-operator', generation: 2 },
      spec: { ...(base.deployment?.spec as object), selector: { matchLabels: own } },
      status: { observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 0 },
    };
    const broken = pod('tigera-operator-x', { namespace: 'tigera-operator', labels: own, status: waiting('ErrImagePull') });
    const [first] = operatorLags({ ...base, deployment, pods: [broken] });
    assert.deepEqual([first?.point, String(first?.command)], [1, 'kubectl -n tigera-operator describe pod tigera-operator-x']);
    assert.match(first?.why ?? '', /0\/1 ready · node-1: tigera-operator-x Pending 2m: ErrImagePull/);
  });
});
