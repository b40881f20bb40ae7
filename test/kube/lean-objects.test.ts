import assert from 'node:assert/strict';
import { podView } from '../../src/features/survey/index.ts';
import { jsonAt } from '../../src/kernel/json.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { leanHost, leanNode, leanPod, slimNode, slimPod, unattributed } from '../../src/kube/lean-objects.ts';
import { nodeFacts, podFacts } from '../../src/kube/pod-facts.ts';

const weight = { annotations: { a: 'x'.repeat(1000) }, managedFields: [{ manager: 'kubelet' }], labels: { a: 'b' } };
const waiting = { name: 'agent', image: 'i', ready: false, restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } } };

const pods: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'that runs': {
    spec: { nodeName: 'n', volumes: [{ name: 'v' }], containers: [{ name: 'agent', image: 'i', env: [{ name: 'E' }] }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [{ name: 'agent', ready: true }] },
  },
  'that crashes': { spec: { nodeName: 'n', containers: [] }, status: { phase: 'Running', containerStatuses: [waiting] } },
  'that crashes while it begins': { spec: { containers: [] }, status: { phase: 'Pending', initContainerStatuses: [waiting] } },
  'without a node': { spec: {}, status: { conditions: [{ type: 'PodScheduled', status: 'False', message: 'no room' }] } },
  'of which nothing is known': {},
};

describe('lean objects', () => {
  for (const [title, fields] of Object.entries(pods)) {
    it(`tell of a pod ${title} what the whole pod tells`, () => {
      const metadata = {
        name: 'p',
        namespace: 's',
        uid: 'u',
        creationTimestamp: '2026-11-21T02:00:00Z',
        deletionTimestamp: 'x',
        ...weight,
      };
      const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata, ...fields };
      const lean = leanPod(pod);
      assert.deepEqual(podFacts(lean), podFacts(pod));
      assert.deepEqual(Object.keys(lean), ['apiVersion', 'kind', 'metadata']);
    });
  }

  it('tell of a pod of a DaemonSet that is not scheduled for which node it is made', () => {
    const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-01'] }] }];
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
    const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, ...pods['without a node'], spec: { affinity } };
    assert.deepEqual([podFacts(pod).node, podFacts(leanPod(pod)).node], ['node-01', 'node-01']);
  });

  it('have of a pod of any namespace what is read of it, and not what tenants wrote besides', () => {
    const big = 'x'.repeat(1000);
    const container = { name: 'agent', image: 'i', env: [{ name: 'E', value: big }], command: [big] };
    const spec = { nodeName: 'n', hostNetwork: true, containers: [container], initContainers: [container] };
    const volumes = [{ flexVolume: { driver: 'd', options: { big } } }, { configMap: { name: big } }];
    const status = { phase: 'Running', containerStatuses: [{ ...waiting, lastState: { terminated: { reason: 'OOMKilled' } } }] };
    const pod: KubeObject = {
      ...{ apiVersion: 'v1', kind: 'Pod', spec: { ...spec, volumes }, status },
      metadata: { name: 'p', namespace: 's', uid: 'u', creationTimestamp: 'c', ...weight },
    };
    assert.deepEqual(podView(slimPod(pod)), podView(pod));
    assert.ok(JSON.stringify(slimPod(pod)).length < 1000);
  });

  it('of a list of all pods have nothing of what kubelets repeat of the spec', () => {
    const heavy = {
      containerID: 'c',
      image: 'i',
      resources: { requests: { cpu: '1' } },
      user: { linux: { uid: 0 } },
      volumeMounts: [{ name: 'v' }],
    };
    const own = { name: 'agent', ready: true, imageID: 'id', restartCount: 1, state: { running: {} }, lastState: {} };
    const condition = { type: 'Ready', status: 'True', reason: 'r', message: 'm', lastTransitionTime: 't' };
    const status = {
      ...{ phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], reason: 'r', message: 'm' },
      ...{ conditions: [condition], containerStatuses: [own], initContainerStatuses: [own] },
    };
    const told = {
      ...status,
      ...{
        hostIP: '192.0.2.1',
        qosClass: 'Burstable',
        startTime: 't',
        conditions: [{ ...condition, lastProbeTime: null, observedGeneration: 1 }],
      },
      ...{ containerStatuses: [{ ...own, ...heavy }], initContainerStatuses: [{ ...own, ...heavy }] },
    };
    assert.deepEqual(slimPod({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: told }).status, status);
  });

  it('have what is the same in many pods once', () => {
    const one = (name: string) => podFacts(leanPod({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, ...pods['that runs'] }));
    assert.equal(one('a').images, one('b').images);
  });

  it('tell of a node what the whole node tells', () => {
    const conditions = [
      { type: 'DiskPressure', status: 'False' },
      { type: 'Ready', status: 'False', reason: 'KubeletNotReady' },
    ];
    const node: KubeObject = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', ...weight },
      spec: { unschedulable: true },
      status: { conditions, images: [{ names: ['x'.repeat(500)] }] },
    };
    assert.deepEqual(nodeFacts(leanNode(node)), nodeFacts(node));
    assert.deepEqual(Object.keys(leanNode(node)), ['apiVersion', 'kind', 'metadata']);
    const bare: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
    assert.deepEqual(nodeFacts(leanNode(bare)), nodeFacts(bare));
  });

  it('have of a node what checks read of it, and neither its images nor who wrote it', () => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }];
    const taints = [{ key: 'k', value: 'v', effect: 'NoSchedule' }];
    const machine = { kernelVersion: '6.1.0', architecture: 'amd64', osImage: 'Linux' };
    const own = {
      spec: { unschedulable: true, taints },
      status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }], conditions },
    };
    const { managedFields: _, ...kept } = weight;
    const node = (name: string): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, creationTimestamp: 'c', uid: 'u', ...weight } },
      spec: { ...own.spec, podCIDR: '10.0.0.0/24' },
      status: { ...own.status, nodeInfo: { ...machine, bootID: name }, images: [{ names: ['x'.repeat(500)] }] },
    });
    const [a, b] = [slimNode(node('a')), slimNode(node('b'))];
    assert.deepEqual(a.metadata, { name: 'a', creationTimestamp: 'c', ...kept });
    assert.deepEqual({ spec: a.spec, status: a.status }, { ...own, status: { ...own.status, nodeInfo: machine } });
    assert.equal(jsonAt(a, 'status', 'nodeInfo'), jsonAt(b, 'status', 'nodeInfo'));
    assert.deepEqual(nodeFacts(slimNode({ ...node('a'), spec: {}, status: {} })), nodeFacts({ ...node('a'), spec: {}, status: {} }));
  });

  it('keep of a host’s node its labels, those that the service gave it, and who it is besides', () => {
    const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u', resourceVersion: '7', ...weight } };
    const lean = leanHost('example.org');
    const { metadata, ...rest } = lean(node);
    assert.deepEqual(metadata, { name: 'n', uid: 'u', resourceVersion: '7', labels: weight.labels });
    assert.deepEqual(nodeFacts({ ...rest, metadata }), nodeFacts(node));
    assert.deepEqual(lean({ ...node, metadata: { name: 'n' } }).metadata, { name: 'n' });
    const given = { 'example.org/labels': '{"rack":"a"}' };
    const labelled = { ...node, metadata: { name: 'n', annotations: { ...weight.annotations, ...given } } };
    assert.deepEqual(lean(labelled).metadata, { name: 'n', annotations: given });
  });

  it('lose nothing of a resource but who wrote it', () => {
    const { managedFields: _, ...metadata } = { name: 'e', ...weight };
    const endpoint: KubeObject = { apiVersion: 'v1', kind: 'HostEndpoint', metadata: { name: 'e', ...weight }, spec: { node: 'n' } };
    assert.deepEqual(unattributed(endpoint), { ...endpoint, metadata });
  });
});
