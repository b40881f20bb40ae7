import assert from 'node:assert/strict';
import { clusterParts, type SupportPart } from '../../../src/features/support/index.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { interrupted } from '../../../src/kernel/interruption.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../../src/kernel/ports.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { clusterOf } from '../../support/cluster-of.ts';

const namespace = 'kube-system';
const labels = { 'k8s-app': 'netsvc-node' };
const agent = netsvc.operator.agent.container;

const daemonSet: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'netsvc-node',
    namespace,
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', own: 'kept' },
    managedFields: [{ manager: 'kubectl' }],
  },
  spec: { selector: { matchLabels: labels }, template: { spec: { containers: [{ name: agent, image: 'x/node:v3.26.4' }] } } },
};

function pod(name: string, status: object): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec: { containers: [] }, status } as KubeObject;
}

const ready = pod('good', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [] });
const crashing = pod('bad', {
  phase: 'Running',
  containerStatuses: [
    { name: 'agent', ready: false, restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } } },
    { name: 'slow', ready: false, restartCount: 0, state: { running: {} } },
    { name: 'fine', ready: true, restartCount: 0, state: { running: {} } },
    { name: 'unpulled', ready: false, restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff' } } },
  ],
});
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-01' },
  spec: { podCIDR: '10.9.0.0/24' },
  status: { conditions: [], addresses: [{ type: 'InternalIP', address: '10.1.1.1' }], nodeInfo: { osImage: 'Linux', machineID: 'm' } },
} as KubeObject;

type Raw = ClusterReader['raw'];

function asking(objects: readonly KubeObject[], refuses: Readonly<Record<string, number>> = {}, raw: Raw = async () => 'a line\n') {
  const { cluster, requests } = clusterOf(objects, { refuses });
  const asked: string[] = [];
  const answer: Raw = (path) => {
    asked.push(path);
    return raw(path);
  };
  return { asking: { cluster: { list: cluster.list, raw: answer } }, requests, asked };
}

const at = (parts: readonly SupportPart[], path: string) => parts.find((one) => one.path === path) ?? assert.fail(`no ${path}`);
const whole = [daemonSet, ready, crashing, node];

describe('what a bundle for support says of the cluster', () => {
  it('are workloads and pods of the service, logs of what is not ready, events and nodes; no Secret is asked for', async () => {
    const { asking: asks, requests } = asking(whole);
    const parts = await clusterParts(asks, netsvc);
    assert.deepEqual(
      parts.map(({ path }) => path),
      [
        'workloads/daemonset_kube-system_netsvc-node.yaml',
        'pods/kube-system/bad.yaml',
        'pods/kube-system/good.yaml',
        'logs/kube-system/bad/agent.previous.log',
        'logs/kube-system/bad/slow.log',
        'logs/kube-system/bad/unpulled.log',
        'events/kube-system.txt',
        'nodes.json',
      ],
    );
    assert.deepEqual(
      requests.filter((one) => !/^list (daemonsets\.apps|deployments\.apps|pods|events|nodes)$/.test(one)),
      [],
    );
  });

  it('asks for the last lines of each container that ran, of a restarted one before its restart', async () => {
    const { asking: asks, asked } = asking(whole);
    const parts = await clusterParts(asks, netsvc);
    const path = '/api/v1/namespaces/kube-system/pods/bad/log?container=';
    assert.deepEqual(asked, [
      `${path}agent&previous=true&tailLines=500&limitBytes=1048576`,
      `${path}slow&tailLines=500&limitBytes=1048576`,
    ]);
    assert.equal(at(parts, 'logs/kube-system/bad/slow.log').content, 'a line\n');
    assert.match(at(parts, 'logs/kube-system/bad/unpulled.log').unread ?? '', /not started \(ImagePullBackOff\)/);
  });

  it('leaves out addresses of nodes, second copies and field managers', async () => {
    const parts = await clusterParts(asking(whole).asking, netsvc);
    const nodes = JSON.stringify(at(parts, 'nodes.json').content);
    assert.match(nodes, /node-01.*Linux/);
    assert.doesNotMatch(nodes, /10\.1\.1\.1|10\.9|machineID/);
    const workload = JSON.stringify(at(parts, 'workloads/daemonset_kube-system_netsvc-node.yaml').content);
    assert.match(workload, /"own":"kept"/);
    assert.doesNotMatch(workload, /last-applied|managedFields/);
  });

  it('keeps the newest 500 events of a namespace, in order', async () => {
    const events = Array.from({ length: 600 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `e${index}`, namespace },
      type: 'Warning',
      reason: 'BackOff',
      message: `number\n${index}`,
      count: 2,
      lastTimestamp: new Date(Date.UTC(2026, 0, 1) + ((index * 7) % 600) * 1000).toISOString(),
      involvedObject: { kind: 'Pod', name: 'bad' },
    }));
    const parts = await clusterParts(asking([...whole, ...events]).asking, netsvc);
    const lines = String(at(parts, 'events/kube-system.txt').content).trimEnd().split('\n');
    assert.equal(lines.length, 500);
    assert.deepEqual(lines, lines.toSorted());
    assert.match(lines.at(-1) ?? '', /^2026-01-01T00:09:59.000Z Warning BackOff Pod\/bad \(2 times\): number \d+$/);
  });

  it('keeps the end of a long log, and stops reading logs when they are large enough', async () => {
    const many = Array.from({ length: 60 }, (_, index) => pod(`bad-${String(index).padStart(2, '0')}`, { ...(crashing.status as object) }));
    const log = async () => `${`${'x'.repeat(99)}\n`.repeat(4 * 1024)}END`;
    const parts = await clusterParts(asking([daemonSet, ...many], {}, log).asking, netsvc);
    const logs = parts.filter(({ path }) => path.startsWith('logs/'));
    const read = logs.flatMap(({ content }) => (typeof content === 'string' ? [content] : []));
    assert.ok(read.every((text) => /^\(the beginning is left out\)\nx{99}\n[\s\S]*\nEND$/.test(text) && text.length < 257 * 1024));
    assert.ok(read.length >= 32 && read.length <= 36, String(read.length));
    assert.ok(logs.some(({ unread }) => unread?.includes('large enough')));
    assert.ok(logs.some(({ unread }) => unread?.startsWith('20 more are left out')));
  });

  it('keeps whole lines alone: a password that is cut looks like none', async () => {
    const log = async () => `first\n${'x'.repeat(1024 * 1024 - 20)}\nhttps://me:geh`;
    const parts = await clusterParts(asking(whole, {}, log).asking, netsvc);
    assert.equal(at(parts, 'logs/kube-system/bad/slow.log').content, '(the beginning is left out)\n');
  });

  it('reads at most four logs at a time', async () => {
    let [now, most] = [0, 0];
    const many = Array.from({ length: 20 }, (_, index) => pod(`bad-${index}`, { ...(crashing.status as object) }));
    const log = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise(setImmediate);
      now -= 1;
      return '';
    };
    await clusterParts(asking([daemonSet, ...many], {}, log).asking, netsvc);
    assert.equal(most, 4);
  });

  for (const [type, path] of [
    ['pods', 'pods/'],
    ['events', 'events/kube-system.txt'],
    ['nodes', 'nodes.json'],
    ['daemonsets.apps', 'workloads/daemonsets'],
  ] as const)
    it(`goes on without ${type} where this account may not read them, and says so`, async () => {
      const parts = await clusterParts(asking(whole, { [type]: 403 }).asking, netsvc);
      assert.match(at(parts, path).unread ?? '', /^this account may not read it: .* refused/);
      assert.ok(parts.some(({ content }) => content !== undefined));
    });

  it('goes on without a log that cannot be read', async () => {
    const raw = async () => {
      throw new ApiFailure(403, 'Forbidden', 'pods/log is forbidden');
    };
    const parts = await clusterParts(asking(whole, {}, raw).asking, netsvc);
    assert.equal(at(parts, 'logs/kube-system/bad/slow.log').unread, 'this account may not read it: pods/log is forbidden');
    assert.ok(at(parts, 'nodes.json').content);
  });

  it('ends where it is interrupted', async () => {
    const raw = async () => {
      throw interrupted();
    };
    await assert.rejects(
      clusterParts(asking(whole, {}, raw).asking, netsvc),
      (thrown) => thrown instanceof Fault && thrown.code === 'interrupted',
    );
  });

  it('names files so that none leads out of its folder', async () => {
    const odd = pod('../../x/y', { phase: 'Pending' });
    const parts = await clusterParts(asking([daemonSet, odd]).asking, netsvc);
    assert.ok(at(parts, 'pods/kube-system/____x_y.yaml'));
    assert.ok(parts.every(({ path }) => !path.includes('..')));
  });
});
