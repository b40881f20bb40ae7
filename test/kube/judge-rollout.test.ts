import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { ReadyRule, RolloutTarget } from '../../src/kernel/rollout.ts';
import { judgeRollout, podsAtOnce, podsAway, type RolloutView } from '../../src/kube/judge-rollout.ts';
import { podFacts } from '../../src/kube/pod-facts.ts';

const NEW = 'quay.io/calico/node:v3.32.1';
const OLD = 'docker.io/calico/node:v3.27.5';
const NOW = Date.parse('2026-11-21T02:00:41Z');
const rule = (ready: string): ReadyRule => (ready === '' ? { type: 'all-containers' } : { type: 'literal', ready });

function target(ready = ''): RolloutTarget {
  return { kind: 'DaemonSet', namespace: 'kube-system', name: 'calico-node', container: 'calico-node', image: NEW, ready: rule(ready) };
}

function daemonSet(image: string, status: Record<string, number>, generation = 2): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'calico-node', namespace: 'kube-system', generation },
    spec: { template: { spec: { containers: [{ name: 'calico-node', image }] } } },
    status: { observedGeneration: generation, ...status },
  };
}

const pausedSpec = (image: string) => ({ paused: true, replicas: 1, ...(daemonSet(image, {}).spec as object) });

interface PodOptions {
  image?: string;
  ready?: readonly boolean[];
  phase?: string;
  terminating?: boolean;
  waiting?: { reason: string; message?: string };
  lastExit?: number;
  unschedulable?: string;
  madeBy?: string;
}

function pod(node: string, options: PodOptions = {}) {
  const { image = NEW, ready = [true], phase = 'Running', terminating, waiting, lastExit, unschedulable, madeBy } = options;
  const names = ready.map((_, index) => (index === 0 ? 'calico-node' : `extra-${index}`));
  return podFacts({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `calico-node-${node}`,
      namespace: 'kube-system',
      uid: node,
      creationTimestamp: '2026-11-21T02:00:00Z',
      ...(terminating ? { deletionTimestamp: '2026-11-21T02:00:30Z' } : {}),
      ...(madeBy ? { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: madeBy, uid: madeBy, controller: true }] } : {}),
    },
    spec: {
      nodeName: unschedulable ? '' : node,
      containers: names.map((name) => ({ name, image: name === 'calico-node' ? image : 'x:1' })),
    },
    status: {
      phase,
      conditions: [
        { type: 'Ready', status: ready.every(Boolean) ? 'True' : 'False' },
        ...(unschedulable ? [{ type: 'PodScheduled', status: 'False', message: unschedulable }] : []),
      ],
      containerStatuses: names.map((name, index) => ({
        name,
        ready: ready[index],
        restartCount: lastExit === undefined ? 0 : 4,
        ...(waiting && index === 0 ? { state: { waiting } } : phase === 'Running' ? { state: { running: {} } } : {}),
        ...(lastExit === undefined ? {} : { lastState: { terminated: { exitCode: lastExit } } }),
      })),
    },
  });
}

const COMPLETE = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2 };

function view(over: Partial<RolloutView>): RolloutView {
  return { target: target(), workload: daemonSet(NEW, COMPLETE), pods: [pod('a'), pod('b')], nodes: new Map(), now: NOW, ...over };
}

describe('judgeRollout', () => {
  it('is done when controller, images and READY all agree', () => {
    const verdict = judgeRollout(view({}));
    assert.equal(verdict.done, true);
    assert.deepEqual(
      verdict.pods.map((one) => [one.node, one.phase, one.release, one.ready]),
      [
        ['a', 'new', 'v3.32.1', '1/1'],
        ['b', 'new', 'v3.32.1', '1/1'],
      ],
    );
  });

  it('has no pods of another DaemonSet that selects the same labels', () => {
    const own = [pod('a', { madeBy: 'calico-node' }), pod('b', { madeBy: 'calico-node' })];
    const verdict = judgeRollout(view({ pods: [...own, pod('b', { image: OLD, madeBy: 'calico-node-gpu' })] }));
    assert.equal(verdict.done, true);
    assert.equal(verdict.pods.length, 2);
  });

  const notDone: [string, Partial<RolloutView>, RegExp][] = [
    ['the workload is missing', { workload: undefined }, /does not exist/],
    ['the template still has the old image', { workload: daemonSet(OLD, COMPLETE) }, /still set to docker\.io/],
    ['the controller has not observed the change', { workload: daemonSet(NEW, { ...COMPLETE, observedGeneration: 1 }) }, /not seen/],
    [
      'not every pod is counted as updated',
      { workload: daemonSet(NEW, { ...COMPLETE, updatedNumberScheduled: 1 }) },
      /1 of 2 pods have been updated/,
    ],
    [
      'its rollout is paused',
      {
        target: { ...target(), kind: 'Deployment' },
        workload: { ...daemonSet(NEW, { updatedReplicas: 0 }), kind: 'Deployment', spec: pausedSpec(NEW) },
      },
      /^0 of 1 pods have been updated; its rollout is paused; fix: kubectl rollout resume deployment calico-node -n kube-system$/,
    ],
    ['an old pod is left', { pods: [pod('a'), pod('b', { image: OLD })] }, /^1 of 2 pods still has the old release$/],
    ['a pod is missing', { pods: [pod('a')] }, /^1 pod instead of 2$/],
    ['the counts lag', { workload: daemonSet(NEW, { ...COMPLETE, numberReady: 1 }) }, /1 of 2 pods are counted ready/],
    [
      'pods are ready but not yet available',
      { workload: daemonSet(NEW, { ...COMPLETE, numberAvailable: 0 }) },
      /0 of 2 pods are counted available/,
    ],
    [
      'its DaemonSet chooses no node, though a pod must run',
      { target: { ...target(), neverEmpty: true }, workload: daemonSet(NEW, {}), pods: [] },
      /^it wants no pod: no node fits its selector.*; see why: kubectl get daemonset calico-node -n kube-system -o yaml/,
    ],
    [
      'it is scaled to nothing, though a pod must run',
      {
        target: { ...target(), kind: 'Deployment', neverEmpty: true },
        workload: { ...daemonSet(NEW, {}), kind: 'Deployment', spec: { ...pausedSpec(NEW), paused: false, replicas: 0 } },
        pods: [],
      },
      /^it wants no pod: .*; fix: kubectl scale deployment calico-node -n kube-system --replicas=1/,
    ],
    [
      'a new pod is not ready',
      { pods: [pod('a'), pod('b', { ready: [false] })] },
      /^1 of 2 pods has the new release and is not ready yet$/,
    ],
    [
      'some pods are old and others not ready',
      {
        workload: daemonSet(NEW, { ...COMPLETE, desiredNumberScheduled: 4, updatedNumberScheduled: 4 }),
        pods: [pod('a', { image: OLD }), pod('b', { image: OLD }), pod('c', { ready: [false] }), pod('d')],
      },
      /^2 of 4 pods still have the old release, 1 has the new release and is not ready yet$/,
    ],
    [
      'an old pod is still stopping',
      { pods: [pod('a'), pod('b'), pod('c', { image: OLD, terminating: true })] },
      /^1 of 3 pods is still stopping$/,
    ],
  ];
  for (const [title, over, pending] of notDone) {
    it(`is not done while ${title}`, () => {
      const verdict = judgeRollout(view(over));
      assert.equal(verdict.done, false);
      assert.match([verdict.pending, ...(verdict.step ? [verdict.step.plain] : [])].join('; '), pending);
    });
  }

  it('is done without any pod where none has to run: Windows agents, a meshed workload scaled to nothing', () => {
    assert.equal(judgeRollout(view({ workload: daemonSet(NEW, {}), pods: [] })).done, true);
  });

  it('takes what is put into pods for new by its release, whatever the injector calls the image', () => {
    const renamed = [pod('a'), pod('b', { image: NEW.replace(/^.*:/, 'mirror.example/own-name:') })];
    assert.equal(judgeRollout(view({ pods: renamed })).done, false);
    const injected = { ...target(), injected: true };
    assert.equal(judgeRollout(view({ target: injected, pods: renamed })).done, true);
    assert.equal(judgeRollout(view({ target: injected, pods: [pod('a'), pod('b', { image: OLD })] })).done, false);
    const ofOthers = { ...injected, anyImage: true };
    assert.equal(judgeRollout(view({ target: ofOthers, pods: [pod('a'), pod('b', { image: OLD })] })).done, true);
    const behind = daemonSet(NEW, { ...COMPLETE, updatedNumberScheduled: 1 });
    assert.equal(judgeRollout(view({ target: ofOthers, workload: behind, pods: [pod('a'), pod('b', { image: OLD })] })).done, false);
  });

  const reasons: [string, PodOptions, string, RegExp][] = [
    [
      'an image that cannot be pulled',
      { ready: [false], phase: 'Pending', waiting: { reason: 'ImagePullBackOff' } },
      'failed',
      /cannot pull quay\.io\/calico\/node:v3\.32\.1 \(ImagePullBackOff\), 41 s/,
    ],
    ...(
      [
        ['Back-off pulling image "quay.io/calico/node:v3.32.1"', 'ImagePullBackOff'],
        ['Back-off pulling image', 'ImagePullBackOff'],
        ['Back-off pulling image "a": ErrImagePull: 401 Unauthorized', 'ImagePullBackOff: 401 Unauthorized'],
        ['failed to pull and unpack image: not found', 'ImagePullBackOff: failed to pull and unpack image: not found'],
        ['x'.repeat(301), `ImagePullBackOff: ${'x'.repeat(300)}…`],
      ] as const
    ).map(([message, words]): [string, PodOptions, string, RegExp] => [
      `an image that cannot be pulled, of which the kubelet says ${message.slice(0, 60)}`,
      { ready: [false], phase: 'Pending', waiting: { reason: 'ImagePullBackOff', message } },
      'failed',
      new RegExp(`cannot pull \\S+ \\(${words}\\), 41 s$`),
    ]),
    [
      'a crash loop',
      { ready: [false], waiting: { reason: 'CrashLoopBackOff' }, lastExit: 2 },
      'failed',
      /CrashLoopBackOff, last exit 2, 4 restarts/,
    ],
    ['a pod that starts', { ready: [false], phase: 'Pending' }, 'updating', /pulling image or starting, 41 s/],
    ['a pod that runs but is not ready', { ready: [false] }, 'updating', /^not ready, 41 s$/],
    [
      'a pod that runs again and is not ready',
      { ready: [false, true], lastExit: 139 },
      'updating',
      /^not ready, 41 s, calico-node: last exit 139, 4 restarts$/,
    ],
    [
      'a pod without a place',
      { ready: [false], phase: 'Pending', unschedulable: '0/3 nodes are available' },
      'updating',
      /unschedulable: 0\/3/,
    ],
    ['an old pod', { image: OLD }, 'old', /next/],
    ['an old pod that stops', { image: OLD, terminating: true }, 'updating', /stopping/],
  ];
  for (const [title, options, phase, why] of reasons) {
    it(`says why for ${title}`, () => {
      const verdict = judgeRollout(view({ pods: [pod('a'), pod('b', options)] }));
      const lagging = verdict.pods.find((one) => one.phase !== 'new');
      assert.equal(lagging?.phase, phase);
      assert.match(lagging?.why ?? '', why);
      // What runs is only in what is shown.
      assert.doesNotMatch(lagging?.reason ?? lagging?.why ?? '', /41 s/);
    });
  }

  it('tells as data whose log or events say more', () => {
    const more = (options: PodOptions) => {
      const { ended, late } = judgeRollout(view({ pods: [pod('b', options)] })).pods[0] ?? {};
      return [ended, late];
    };
    const starting: PodOptions = { ready: [false], phase: 'Pending' };
    assert.deepEqual(more({ ready: [false], waiting: { reason: 'CrashLoopBackOff' }, lastExit: 2 }), ['calico-node', undefined]);
    assert.deepEqual(more({ ready: [false], waiting: { reason: 'RunContainerError' } }), [undefined, undefined]);
    assert.deepEqual(more({ ...starting, waiting: { reason: 'ImagePullBackOff' } }), [undefined, undefined]);
    assert.deepEqual(
      [more(starting), more({ ready: [false] })],
      [
        [undefined, 'starting'],
        [undefined, 'unready'],
      ],
    );
    assert.deepEqual(more({ ready: [false], lastExit: 139 }), [undefined, 'unready']);
  });

  const rewritten = { 'a mirror with a port': 'mirror.corp:5000/quay/calico/node:v3.32.1', 'a digest': `${NEW}@sha256:${'a'.repeat(64)}` };
  for (const [title, image] of Object.entries(rewritten)) {
    it(`is done where admission rewrote the image to ${title}, in pods alone or in the workload too`, () => {
      const pods = [pod('a', { image }), pod('b', { image })];
      assert.equal(judgeRollout(view({ pods })).pending, '');
      assert.equal(judgeRollout(view({ pods, workload: daemonSet(image, COMPLETE) })).pending, '');
    });
  }

  const others = ['mirror.corp:5000/calico/node:v3.27.5', 'mirror.corp:5000/calico/node', `quay.io/calico/node@sha256:${'a'.repeat(64)}`];
  for (const image of [...others, 'quay.io/calico/cni:v3.32.1']) {
    it(`does not take ${image} for the target`, () => {
      assert.equal(judgeRollout(view({ pods: [pod('a', { image })] })).pods[0]?.phase, 'old');
    });
  }

  it('names a node that is down', () => {
    const nodes = new Map([['b', { name: 'b', ready: false, unschedulable: false, reason: 'NodeStatusUnknown' }]]);
    const verdict = judgeRollout(view({ nodes, pods: [pod('a'), pod('b', { ready: [false] })] }));
    assert.match(verdict.pods.find((one) => one.node === 'b')?.why ?? '', /node is not ready \(NodeStatusUnknown\)/);
  });

  it("judges by the document's literal where the profile says so, 1/2 included", () => {
    const half = [pod('a', { ready: [true, false] }), pod('b', { ready: [true, false] })];
    const workload = daemonSet(NEW, { ...COMPLETE, numberReady: 0, numberAvailable: 0 });
    assert.equal(judgeRollout(view({ target: target('1/2'), workload, pods: half })).done, true);
    assert.equal(judgeRollout(view({ target: target('2/2'), workload, pods: half })).done, false);
    assert.equal(judgeRollout(view({ target: target(''), workload, pods: half })).done, false);
  });

  describe('of a Deployment', () => {
    const one = { ...target(), kind: 'Deployment' as const };
    const workload = (replicas: number): KubeObject => ({
      ...daemonSet(NEW, { updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }),
      kind: 'Deployment',
      spec: { replicas, template: { spec: { containers: [{ name: 'calico-node', image: NEW }] } } },
    });
    const ended = { ready: [false], phase: 'Failed' };

    it('is done over pods that were evicted, or stopped with their node, and have been replaced', () => {
      const pods = [pod('a'), pod('b', { ...ended, image: OLD }), pod('c', ended), pod('d', { ready: [false], phase: 'Succeeded' })];
      const verdict = judgeRollout(view({ target: one, workload: workload(1), pods }));
      assert.deepEqual([verdict.pending, verdict.pods.map(({ node }) => node)], ['', ['a']]);
    });

    it('still shows a pod that ended where none has taken its place', () => {
      const verdict = judgeRollout(view({ target: one, workload: workload(2), pods: [pod('a'), pod('c', ended)] }));
      assert.deepEqual([verdict.done, verdict.pods.map(({ phase }) => phase)], [false, ['new', 'failed']]);
    });
  });
});

describe('a percentage of pods', () => {
  const set = (maxUnavailable: string): KubeObject => ({
    ...daemonSet(NEW, {}),
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } } },
  });

  it('is rounded up as the controller of a DaemonSet does', () => {
    for (const [percent, pods, meant] of [
      [7, 100, 7],
      [14, 50, 7],
      [28, 25, 7],
      [55, 100, 55],
      [7, 101, 8],
      [1, 5000, 50],
      [10, 3, 1],
    ] as const)
      assert.deepEqual(
        [podsAway(set(`${percent}%`), pods), podsAtOnce(set(`${percent}%`), pods)],
        [meant, meant],
        `${percent}% of ${pods}`,
      );
  });
});
