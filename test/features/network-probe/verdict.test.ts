import assert from 'node:assert/strict';
import { type AgentOnNode, chooseNodes, chooseOldNodes } from '../../../src/features/network-probe/agents.ts';
import { CODES } from '../../../src/features/network-probe/jobs.ts';
import { type Found, foundBy, lackTheSame, networkFault, podSays, reachedText } from '../../../src/features/network-probe/verdict.ts';
import { withoutNetwork } from '../../../src/features/rollout/index.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const agent = (node: string, is: AgentOnNode['is']): AgentOnNode => ({ node, is, pod: `calico-node-${node}`, uid: node });
const [a, b, old] = [agent('a', 'upgraded'), agent('b', 'upgraded'), agent('z', 'old')];
const place = { namespace: 'kube-system', name: 'calico-node', container: 'calico-node', ready: { type: 'all-containers' } } as const;
const byManifest = { ...place, runs: { image: `quay.io/calico/node:${CALICO_TARGET}` } };
const byOperator = { ...place, runs: { release: CALICO_TARGET, digests: [] } };

interface NodeState {
  readonly ready?: boolean;
  readonly cordoned?: boolean;
  readonly taint?: string;
  readonly os?: string;
}
const node = (name: string, { ready = true, cordoned = false, taint, os }: NodeState = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...(os ? { labels: { 'kubernetes.io/os': os } } : {}) },
  spec: { unschedulable: cordoned, ...(taint ? { taints: [{ key: 'k', effect: taint }] } : {}) },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const names = (agents: readonly AgentOnNode[], nodes: readonly KubeObject[]) => chooseNodes(agents, nodes).map((one) => one.node);

describe('the nodes of a network probe', () => {
  const all = [node('a'), node('b'), node('z')];
  it('are an upgraded and an old one', () => assert.deepEqual(names([b, old, a], all), ['a', 'z']));
  it('are two upgraded ones where none is old', () => assert.deepEqual(names([b, a], all), ['a', 'b']));
  it('are one where there is no other', () => assert.deepEqual(names([a], all), ['a']));
  it('are none before an agent is upgraded and ready', () => assert.deepEqual(names([old, agent('b', 'late')], all), []));
  for (const [title, state] of [
    ['is not ready', { ready: false }],
    ['is cordoned', { cordoned: true }],
    ['has a taint', { taint: 'NoSchedule' }],
    ['evicts', { taint: 'NoExecute' }],
    ['runs Windows', { os: 'windows' }],
  ] as const)
    it(`are none that ${title}`, () => assert.deepEqual(names([a, b, old], [node('a'), node('b'), node('z', state)]), ['a', 'b']));
  it('to compare with are the last two old ones', () => {
    const olds = ['w', 'x', 'y'].map((name) => agent(name, 'old'));
    const chosen = chooseOldNodes(
      [a, ...olds],
      ['a', 'w', 'x', 'y'].map((name) => node(name)),
    );
    assert.deepEqual(
      chosen.map((one) => one.node),
      ['x', 'y'],
    );
    assert.deepEqual(chooseOldNodes([a, b], all), []);
  });
  it('may be one where pods are only not preferred', () =>
    assert.deepEqual(names([a, old], [node('a'), node('z', { taint: 'PreferNoSchedule' })]), ['a', 'z']));
});

describe('what a pod of a network probe says', () => {
  const pod = (status: object): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status });
  const container = (state: object, more: object = {}) =>
    pod({
      containerStatuses: [
        { name: 'mesh', state: { running: {} } },
        { name: 'probe', state },
      ],
      ...more,
    });
  for (const [title, object, says] of [
    ['none yet', undefined, { state: 'waits', why: 'no pod was created' }],
    ['it runs', container({ running: {} }, { phase: 'Running', podIP: '10.0.0.1' }), { state: 'runs', address: '10.0.0.1' }],
    [
      'it runs and has no address yet',
      container({ running: {} }, { phase: 'Running' }),
      { state: 'waits', why: 'its container did not start in time' },
    ],
    [
      'it ended',
      container({ terminated: { exitCode: 20, message: 'no answer' } }, { phase: 'Failed' }),
      { state: 'ended', code: 20, says: 'no answer' },
    ],
    [
      'its image cannot be pulled',
      container({ waiting: { reason: 'ErrImagePull', message: 'denied' } }),
      { state: 'refused', why: 'ErrImagePull: denied' },
    ],
    [
      'it is being created',
      container({ waiting: { reason: 'ContainerCreating' } }),
      { state: 'waits', why: 'its container did not start in time' },
    ],
    ['it was evicted', pod({ phase: 'Failed', reason: 'Evicted', message: 'disk' }), { state: 'refused', why: 'Evicted: disk' }],
    [
      'no node fits',
      pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: 'cpu' }] }),
      { state: 'waits', why: 'not scheduled: cpu' },
    ],
  ] as const)
    it(title, () => assert.deepEqual(podSays(object), says));
});

describe('the verdict of a network probe', () => {
  const one = (from: AgentOnNode, to: AgentOnNode, lacks: Found['lacks'], says = ''): Found => ({ from, to, lacks, says });
  const faultOf = (agents: typeof byManifest | typeof byOperator, ...found: readonly Found[]) =>
    networkFault(found, { agents, namespace: 'probe', isRolling: true });

  it('is good where both reach each other', () => {
    const found = [one(a, old, 'nothing'), one(old, a, 'nothing')];
    assert.equal(faultOf(byManifest, ...found), undefined);
    assert.equal(reachedText(found), 'pods on a (upgraded) and z (old) reach each other, and resolve kubernetes.default.svc');
  });

  it('says so where one node alone was probed', () =>
    assert.match(reachedText([one(a, a, 'nothing')]), /^pods on a reach each other.*; no second node takes pods$/));

  it('tells names from connections', () => {
    assert.match(
      faultOf(byManifest, one(a, old, 'name'), one(old, a, 'nothing'))?.message ?? '',
      /a new pod on a \(upgraded\) does not resolve kubernetes\.default\.svc, but reaches a pod on z \(old\)$/,
    );
    assert.match(faultOf(byManifest, one(a, old, 'answer'))?.message ?? '', /does not reach a pod on z \(old\)$/);
    assert.match(faultOf(byManifest, one(a, old, 'both'))?.message ?? '', /does not reach a pod on z \(old\), and does not resolve/);
    const means = (...found: readonly Found[]) =>
      faultOf(byManifest, ...found)?.suggestions.find((text) => text.startsWith('this means: '));
    assert.match(means(one(a, old, 'name')) ?? '', /the way to the DNS Service/);
    assert.match(means(one(a, old, 'answer')) ?? '', /packets between these nodes are lost/);
    assert.match(means(one(a, a, 'answer')) ?? '', /pods of this node do not even reach each other/);
  });

  it('shows first the log of the upgraded agent where more than one connection fails', () => {
    const fault = faultOf(byManifest, one(a, b, 'answer', 'timed out'), one(b, a, 'both', 'not resolved\ntimed out'));
    assert.equal(fault?.code, 'stopped');
    assert.equal(fault?.suggestions[0], 'see why: kubectl -n kube-system logs calico-node-b -c calico-node --tail=50');
    assert.ok(fault?.suggestions.includes('the pod on b says: not resolved; timed out'), fault?.suggestions.join('\n'));
    assert.ok(fault?.suggestions.some((text) => /^running pods on \S.* may have lost/.test(text)));
    assert.ok(fault?.suggestions.some((text) => text.endsWith('kubectl get networkpolicies -n probe')));
    assert.deepEqual(
      faultOf(byManifest, one(a, old, 'answer'), one(old, a, 'both'))?.suggestions.filter((text) => text.startsWith('see why: ')),
      ['see why: kubectl -n kube-system logs calico-node-a -c calico-node --tail=50'],
    );
  });

  it('says what an event of the kubelet means, and which pods get no network', () => {
    const says =
      'Failed to create pod sandbox: plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized';
    const fault = faultOf(byManifest, one(a, a, 'no-sandbox', says));
    assert.equal(fault?.message, 'a new pod on a (upgraded) gets no network');
    assert.ok(fault?.suggestions.some((text) => /^this means: the API server refuses the token of the CNI plugin/.test(text)));
    assert.ok(fault?.suggestions.includes(withoutNetwork('a').plain));
    assert.ok(fault?.suggestions.includes('keep new pods off a: kubectl cordon a (afterwards: kubectl uncordon a)'));
  });

  it('gives the command that holds the rollout, but not where an operator would undo it', () => {
    const holds = (agents: typeof byManifest | typeof byOperator) =>
      faultOf(agents, one(a, b, 'answer'))?.suggestions.some((text) =>
        text.includes('to hold it: kubectl -n kube-system patch daemonset calico-node'),
      );
    assert.deepEqual([holds(byManifest), holds(byOperator)], [true, false]);
  });

  it('is compared with what pods of old nodes lack', () => {
    const same = (other: Found['lacks'], lacks: Found['lacks']) =>
      lackTheSame([one(old, old, other)], [one(a, old, lacks), one(old, a, 'nothing')]);
    assert.deepEqual(
      [same('both', 'name'), same('both', 'both'), same('name', 'name'), same('no-sandbox', 'no-sandbox')],
      [true, true, true, true],
    );
    assert.deepEqual(
      [same('name', 'both'), same('nothing', 'name'), same('answer', 'name'), same('both', 'no-sandbox')],
      [false, false, false, false],
    );
  });

  it('says nothing of the network by an exit code of the image', () => {
    assert.equal(
      foundBy(a, b, { code: CODES.noTools, says: 'the image has no nc' }),
      'the client on a ended with exit code 69: the image has no nc',
    );
    assert.deepEqual(foundBy(a, b, { code: 10, says: '' }), one(a, b, 'name'));
  });
});
