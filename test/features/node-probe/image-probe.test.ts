import assert from 'node:assert/strict';
import { isProbed, probedImages, readImageProbe, readPulled } from '../../../src/features/node-probe/image-probe.ts';
import { type ProbeParts, probeJob } from '../../../src/features/node-probe/job.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const IMAGE = `quay.io/calico/node:${CALICO_TARGET}`;
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
const PARTS: ProbeParts = {
  ...{ namespace: 'kube-system', id: 'i', node: 'a', part: '1', needs: undefined, images: [] },
  ...{ pullSecrets: [], versionCommands: {}, endsAfter: 60 },
};
const NOW = Date.parse('2026-11-24T04:00:10Z');
const stateOf = (pods: readonly KubeObject[], ready = true) => {
  const [first] = probedImages(new Map(pods.map((one) => ['a', one])), [node('a', ready)], new Map([[IMAGE, 'image-1']]), NOW);
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

  const runs = { nodeName: 'a', containers: [{ name: 'image-1', image: IMAGE, command: ['/bin/calico-node', '-v'] }] };
  const ended = (exitCode: number) => container({ state: { terminated: { exitCode } } });
  const startedAt = (time: string) => container({ state: { running: { startedAt: time } } });
  for (const [title, status, said] of [
    ['its version was said', ended(0), 'pulled: '],
    ['it ended with a code of its own', ended(1), 'pulled: '],
    [
      'its loader refuses the processor',
      ended(127),
      'failed: pulled, but its program cannot run here: exit code 127 (its loader refuses the processor, or a library is missing)',
    ],
    ['an illegal instruction', ended(132), 'failed: pulled, but its program cannot run here: exit code 132 (illegal instruction)'],
    [
      'a segmentation fault, and a restart that is held back',
      container({ lastState: { terminated: { exitCode: 139 } }, state: { waiting: { reason: 'CrashLoopBackOff' } } }),
      'failed: pulled, but its program cannot run here: exit code 139 (segmentation fault)',
    ],
    [
      'another architecture',
      waiting('RunContainerError', 'exec /bin/calico-node: exec format error'),
      'failed: pulled, but it is of another architecture: exec /bin/calico-node: exec format error',
    ],
    [
      'another architecture, as a container says that has ended',
      container({ state: { terminated: { exitCode: 255, message: 'exec /bin/calico-node: exec format error\n' } } }),
      'failed: pulled, but it is of another architecture: exec /bin/calico-node: exec format error',
    ],
    ['no program of that name', waiting('RunContainerError', 'no such file'), 'pulled: RunContainerError'],
    ['it has run for a while', startedAt('2026-11-24T04:00:00Z'), 'pulled: '],
    ['it has just been started', startedAt('2026-11-24T04:00:09Z'), 'untold: starting'],
    ['a refused pull', waiting('ErrImagePull', 'not found'), 'failed: ErrImagePull: not found'],
    ['a pull under way', waiting('ContainerCreating'), 'untold: still pulling'],
  ] as const) {
    it(`${said.split(':')[0]} where its program is let say its version: ${title}`, () => assert.equal(stateOf([pod(status, runs)]), said));
  }

  it('is asked by the version command where one is known for the image, and by no program else', () => {
    const commands = (images: readonly string[]) => {
      const { spec } = probeJob({ ...PARTS, images, versionCommands: { node: ['/bin/calico-node', '-v'] } });
      const { template } = spec as {
        readonly template: { readonly spec: { readonly containers: readonly { readonly command: readonly string[] }[] } };
      };
      return template.spec.containers.map(({ command }) => command.join(' '));
    };
    const nothing = '/netsvc-upgrade-probe-runs-nothing';
    const digest = `mirror.example:5000/a/node:v3@sha256:${'0'.repeat(64)}`;
    assert.deepEqual(commands([IMAGE, `quay.io/calico/cni:${CALICO_TARGET}`, digest, 'mirror.example:5000/node']), [
      '/bin/calico-node -v',
      nothing,
      '/bin/calico-node -v',
      '/bin/calico-node -v',
    ]);
  });

  it('is by its container, whatever image a webhook has put there', () => {
    const swapped = { nodeName: 'a', containers: [{ name: 'image-1', image: 'mirror.example/swapped' }] };
    assert.equal(stateOf([pod(container({ state: { running: {} } }), swapped)]), 'pulled: ');
  });

  it('is nothing without a pod, and nothing to wait for where the node is not ready', () => {
    assert.equal(stateOf([]), 'untold: not scheduled');
    assert.equal(stateOf([], false), 'away: the node is not ready (NodeStatusUnknown)');
    assert.equal(stateOf([pod(waiting('ErrImagePull'))], false), 'failed: ErrImagePull');
  });

  it('is the scheduler’s where the pod has no node yet', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: 'Insufficient pods' }];
    assert.equal(stateOf([pod({ conditions }, {})]), 'untold: not scheduled: Insufficient pods');
  });
});

describe('the probe', () => {
  const { spec } = probeJob({ ...PARTS, images: [IMAGE, 'b'], pullSecrets: ['mirror'] });
  const text = JSON.stringify(spec);

  it('without a known agent runs nothing and has no right', () => {
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

  it('counts for its release alone', async () => {
    const context = contextOf();
    const results = [{ node: 'n1', image: 'a', state: 'pulled', because: '' }];
    const of = (release: string) =>
      readPulled({ read: async () => JSON.stringify({ run: context.startedAt.toISOString(), release, results, nodes: [] }) }, context);
    assert.deepEqual((await of(context.goal.release))?.images, ['a']);
    assert.equal(await of('v3.0.0'), undefined);
  });

  it('is read back only whole', () => {
    const whole = { run: 'r', release: 'v1', results: [], nodes: [] };
    assert.deepEqual(readImageProbe(JSON.stringify(whole)), whole);
    for (const text of [undefined, '', '{', 'null', '{"run":1}', '{"run":"r","results":[]}', '{"run":"r","release":"v1","results":[]}'])
      assert.equal(readImageProbe(text), undefined);
  });
});
