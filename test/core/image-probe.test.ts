import assert from 'node:assert/strict';
import { isProbed, probeDaemonSet, probedImages, readImageProbe } from '../../src/core/image-probe.ts';
import type { KubeObject } from '../../src/core/object.ts';

const IMAGE = 'quay.io/calico/node:v3.32.1';
const node = (name: string, ready = true): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown', reason: 'NodeStatusUnknown' }] },
});
const pod = (status: object, spec: object = { nodeName: 'a' }): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'image-1', image: IMAGE }], ...spec },
  status,
});
const container = (more: object) => ({ containerStatuses: [{ name: 'image-1', ...more }] });
const waiting = (reason: string, message?: string) => container({ imageID: '', state: { waiting: { reason, message } } });
const stateOf = (pods: readonly KubeObject[], ready = true) => {
  const [first] = probedImages(pods, [node('a', ready)], [IMAGE]);
  return `${first?.state}: ${first?.because}`;
};

describe('what a node says of an image', () => {
  for (const [title, status, said] of [
    ['a command that does not exist', waiting('CreateContainerError'), 'pulled: CreateContainerError'],
    ['a container that cannot run', waiting('RunContainerError'), 'pulled: RunContainerError'],
    ['a configuration that is refused after the pull', waiting('CreateContainerConfigError'), 'pulled: CreateContainerConfigError'],
    ['a restart that is held back', waiting('CrashLoopBackOff'), 'pulled: CrashLoopBackOff'],
    ['an end', container({ state: { terminated: { exitCode: 128, reason: 'StartError' } } }), 'pulled: '],
    [
      'an image that has its id',
      container({ imageID: 'sha256:1', state: { waiting: { reason: 'ContainerCreating' } } }),
      'pulled: ContainerCreating',
    ],
    ['a container that runs', container({ state: { running: {} } }), 'pulled: '],
    ['a refused pull', waiting('ErrImagePull', 'not found'), 'failed: ErrImagePull: not found'],
    ['a pull that is held back', waiting('ImagePullBackOff'), 'failed: ImagePullBackOff'],
    ['a name that is none', waiting('InvalidImageName'), 'failed: InvalidImageName'],
    ['a pull under way', waiting('ContainerCreating'), 'untold: still pulling'],
    ['nothing yet', {}, 'untold: no answer of the node yet'],
  ] as const) {
    it(`${said.split(':')[0]}: ${title}`, () => assert.equal(stateOf([pod(status)]), said));
  }

  it('is nothing without a pod, and nothing to wait for where the node is not ready', () => {
    assert.equal(stateOf([]), 'untold: not scheduled');
    assert.equal(stateOf([], false), 'away: the node is not ready (NodeStatusUnknown)');
    assert.equal(stateOf([pod(waiting('ErrImagePull'))], false), 'failed: ErrImagePull');
  });

  it('is the scheduler’s where the pod has no node yet', () => {
    const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } };
    const conditions = [{ type: 'PodScheduled', status: 'False', message: 'Insufficient pods' }];
    assert.equal(stateOf([pod({ conditions }, { affinity })]), 'untold: not scheduled: Insufficient pods');
  });
});

describe('the probe', () => {
  const { spec } = probeDaemonSet({ namespace: 'kube-system', images: [IMAGE, 'b'], pullSecrets: ['mirror'] });
  const text = JSON.stringify(spec);

  it('reaches every node, runs nothing and has no right', () => {
    for (const part of [
      '"tolerations":[{"operator":"Exists"}]',
      '"automountServiceAccountToken":false',
      '"imagePullSecrets":[{"name":"mirror"}]',
      '"runAsNonRoot":true',
      '"drop":["ALL"]',
    ])
      assert.ok(text.includes(part), part);
    assert.doesNotMatch(text, /hostNetwork|hostPath|privileged/);
    assert.equal(text.match(/runs-nothing/g)?.length, 2);
  });

  it('asks no node of another system', () => {
    const windows = { ...node('w'), metadata: { name: 'w', labels: { 'kubernetes.io/os': 'windows' } } };
    assert.deepEqual([node('a'), windows].map(isProbed), [true, false]);
  });

  it('is read back only whole', () => {
    assert.deepEqual(readImageProbe('{"run":"r","results":[]}'), { run: 'r', results: [] });
    for (const text of [undefined, '', '{', 'null', '{"run":1}']) assert.equal(readImageProbe(text), undefined);
  });
});
