import assert from 'node:assert/strict';
import type { RunReport } from '../../src/cli/documents.ts';
import { applyStage, waitStage } from '../../src/features/install/index.ts';
import { KEPT_PROBES } from '../../src/features/network-probe/kept-jobs.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { newOn, strategy } from '../support/canary-sandbox.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox, performIn } from '../support/sandbox-ports.ts';

const PROBE = ['--probe-network', '--probe-image', 'registry.netsvc.io/tools/busybox:1.37', '--probe-namespace', 'probe'];
const RUN = ['run', '--yes', '--skip', 'cli', ...PROBE];

async function ground(nodes = 4): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes, cli: false });
  await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
  return scenario;
}

const leftIn = async ({ cluster }: Scenario) => {
  const lists = await Promise.all([K.Job, K.Pod].map((kind) => cluster.list(kind, { labelSelector: KEPT_PROBES })));
  return lists.flat().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};

async function ran(scenario: Scenario, words: readonly string[]) {
  const bench = sandboxCommand(scenario);
  const exit = await bench.run(...words);
  await scenario.clock.sleep(1_000);
  return { exit, text: `${bench.err()}\n${bench.out()}`, out: bench.out(), next: bench.out().trimEnd().split('\n').at(-1) };
}

/** Once so many nodes have a new agent. */
function atNew(scenario: Scenario, count: number, act: (nodes: readonly string[]) => void): void {
  const stop = scenario.cluster.store.listen(({ kind }) => {
    if (kind.plural !== K.Pod.plural || newOn(scenario).length < count) return;
    stop();
    scenario.clock.schedule(0, () => act(newOn(scenario)));
  });
}

const cut = (scenario: Scenario, node: string) => {
  scenario.cluster.nodes.fault(node, 'cut');
  scenario.clock.schedule(3_000, () => scenario.cluster.nodes.fault(node, 'none'));
};

describe('connections that a run keeps', function () {
  this.timeout(120_000);

  it('are measured where they all last, and the last lines say so', async () => {
    const scenario = await ground();
    const { exit, text } = await ran(scenario, RUN);
    assert.equal(exit, 0, text);
    assert.match(text, /^\S+ apply: {3}8 connections between pods on 4 nodes$/m);
    assert.match(
      text,
      /^Routes and rules stay in the kernel while an agent restarts\. Measured: 8 connections of pods on 4 nodes: 0 broke, longest gap 0\.2 s \(node-\d\d\)\.$/m,
    );
    assert.doesNotMatch(text, /measured no traffic/);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('are not measured without the flag, which the last lines say with the mechanism', async () => {
    const { exit, text } = await ran(await ground(), ['run', '--yes', '--skip', 'cli']);
    assert.equal(exit, 0, text);
    assert.match(
      text,
      /^Routes and rules stay in the kernel while an agent restarts\. This program measured no traffic of running pods\.$/m,
    );
  });

  it('that break are counted and told, and the run continues', async () => {
    const scenario = await ground();
    let at = '';
    atNew(scenario, 2, ([node = '']) => {
      at = scenario.clock.now().toISOString().slice(11, 19);
      cut(scenario, node);
    });
    const { exit, text } = await ran(scenario, RUN);
    assert.equal(exit, 0, text);
    // To the second, although it is made again before anybody looks.
    const breaks = [...text.matchAll(/^\S+ Warning: a connection from a pod on node-\d\d to one on node-\d\d broke at (\S+)Z$/gm)];
    assert.deepEqual([...new Set(breaks.map(([, time]) => time))], [at], text);
    // To and from the node, and from outside.
    assert.match(text, /Measured: 8 connections of pods on 4 nodes: [34] broke, [34] times, longest gap \d\.\d s \(node-\d\d\)\./);
    assert.equal(newOn(scenario).length, 4);
  });

  it('with --probe-strict stop the roll where the first breaks', async () => {
    const scenario = await ground(6);
    atNew(scenario, 2, ([node = '']) => cut(scenario, node));
    const { exit, text } = await ran(scenario, [...RUN, '--probe-strict']);
    assert.equal(exit, 5, text);
    await scenario.clock.sleep(600_000);
    assert.ok(newOn(scenario).length < 6, newOn(scenario).join());
    assert.deepEqual(strategy(scenario), { type: 'OnDelete' });
    assert.match(text, /^error: a connection from .* broke at \d\d:\d\d:\d\dZ$/m);
    assert.match(text, /no further agent is replaced: the update strategy stays OnDelete/);
    assert.match(text, /test an application there now/i);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('with --probe-strict stop the roll where one falls silent, before the next group of nodes', async () => {
    const scenario = await ground(6);
    let before = 0;
    atNew(scenario, 2, ([node = '']) => {
      before = newOn(scenario).length;
      scenario.cluster.nodes.fault(node, 'silent');
    });
    const { exit, text } = await ran(scenario, [...RUN, '--probe-strict']);
    assert.equal(exit, 5, text);
    assert.deepEqual([before, newOn(scenario).length], [2, 2], text);
    assert.match(text, /^error: a connection from .* broke at \d\d:\d\d:\d\dZ$/m);
    assert.match(text, /no further agent is replaced: the update strategy stays OnDelete/);
  });

  it('that end with a node that is lost are told as such', async () => {
    const scenario = await ground(6);
    atNew(scenario, 2, ([node = '']) => scenario.cluster.nodes.fault(node, 'down'));
    const { exit, text } = await ran(scenario, [...RUN, '--probe-strict']);
    assert.equal(exit, 5, text);
    assert.match(
      text,
      /^error: a connection from .* broke at \S+Z; node-\d\d is not ready: what ended there is the node, not only its agent$/m,
    );
    const { out } = await ran(scenario, ['report', '-o', 'json']);
    const { connections = [] } = (JSON.parse(out) as RunReport).history?.network ?? {};
    assert.ok(
      connections.some(({ broken, ofNodes }) => broken > 0 && broken === ofNodes),
      out,
    );
  });

  it('that break while a canary is watched are part of its verdict', async () => {
    const scenario = await ground();
    atNew(scenario, 1, ([node = '']) => cut(scenario, node));
    const { exit, text } = await ran(scenario, [...RUN, '--canary', '1', '--soak', '10m']);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: the canary failed: a connection .*node-01.* broke at /m);
    await scenario.clock.sleep(1_200_000);
    assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01'], { type: 'OnDelete' }]);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('that break right before the end of a canary without a soak are seen before it stops for the user', async () => {
    const scenario = await ground();
    // Right before the last answer of the Jobs that try new pods, after which nothing is waited for.
    const stop = scenario.cluster.store.listen(({ kind, after }) => {
      const isLast = after?.metadata.name.includes('client-2') && JSON.stringify(after.status ?? {}).includes('podIP');
      if (kind.plural !== K.Pod.plural || !isLast) return;
      stop();
      scenario.clock.schedule(1_900, () => scenario.cluster.nodes.fault('node-01', 'cut'));
    });
    const { exit, text } = await ran(scenario, [...RUN, '--canary', '1']);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: the canary failed: a connection /m);
  });

  it('are looked at again where the server gives no answer for a moment, and a break is seen before the end', async () => {
    const scenario = await ground(6);
    const { list } = scenario.cluster;
    let away = false;
    Object.assign(scenario.cluster, {
      list: async (kind: Kind, options: { readonly labelSelector?: string }) => {
        if (away && options?.labelSelector === KEPT_PROBES) throw new ApiFailure(0, 'Unreachable', 'connect ECONNREFUSED');
        return list(kind, options);
      },
    });
    atNew(scenario, 1, () => {
      away = true;
      scenario.clock.schedule(6_000, () => {
        away = false;
      });
    });
    atNew(scenario, 2, ([node = '']) => scenario.clock.schedule(7_000, () => cut(scenario, node)));
    const { exit, text } = await ran(scenario, [...RUN, '--probe-strict']);
    assert.equal(exit, 5, text);
    assert.match(text, /Warning: connections cannot be looked at now: .*ECONNREFUSED.*; they are looked at again$/m);
    assert.match(text, /^error: a connection from .* broke at /m);
    assert.ok(newOn(scenario).length < 6, newOn(scenario).join());
  });

  it('with --probe-strict stop the roll where their Jobs are over before it', async () => {
    const scenario = await ground(12);
    const { exit, text } = await ran(scenario, [...RUN, '--probe-strict', '--timeout', '1m']);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: connections are not watched any more: the time limit of their Jobs is over/m);
    assert.doesNotMatch(text, /may have lost connections/, 'none broke');
    assert.ok(newOn(scenario).length < 12, newOn(scenario).join());
  });

  it('give no verdict on a canary where no pod reports', async () => {
    const scenario = await ground();
    const { raw } = scenario.cluster;
    Object.assign(scenario.cluster, {
      raw: async (path: string) => {
        if (!path.includes('/log?') || newOn(scenario).length === 0) return raw(path);
        throw new ApiFailure(500, 'InternalError', 'no route to host');
      },
    });
    const { exit, text } = await ran(scenario, [...RUN, '--canary', '1', '--soak', '1m']);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: no verdict on the connection from .*: its log cannot be read: .*no route to host/m);
    assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01'], { type: 'OnDelete' }]);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('that end with their pods are not broken', async () => {
    const scenario = await ground();
    atNew(scenario, 1, () => {
      const pod = scenario.cluster.store.list(K.Pod).find(({ metadata }) => metadata.name.includes('answers-2'));
      assert.ok(pod);
      scenario.cluster.store.delete(K.Pod, pod.metadata.name, pod.metadata.namespace);
    });
    const { exit, text } = await ran(scenario, [...RUN, '--probe-strict']);
    assert.equal(exit, 0, text);
    assert.match(text, /Measured: 8 connections of pods on 4 nodes: 0 broke, longest gap 0\.2 s /);
  });

  it('are left out from outside the pod network where the namespace admits no such pod, and the report says so', async () => {
    const scenario = await ground();
    const { create } = scenario.cluster;
    Object.assign(scenario.cluster, {
      // Of a Job whose pod is refused there is never one.
      create: (kind: Kind, object: KubeObject) =>
        create(kind, JSON.stringify(object.spec ?? {}).includes('"hostNetwork":true') ? withoutNode(object) : object),
    });
    const { exit, text } = await ran(scenario, RUN);
    assert.equal(exit, 0, text);
    assert.match(text, /Measured: 4 connections of pods on 4 nodes: 0 broke/);
    const { out } = await ran(scenario, ['report', '-o', 'json']);
    const { network } = (JSON.parse(out) as RunReport).history ?? {};
    assert.deepEqual(network?.untried, ['from outside the pod network: the pod on node-04: no pod was created']);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('are in one report, those of a canary and those of the rest', async () => {
    const scenario = await ground();
    assert.equal((await ran(scenario, [...RUN, '--canary', '1'])).exit, 5);
    assert.deepEqual(await leftIn(scenario), []);
    const { exit, text } = await ran(scenario, ['commit', ...RUN.slice(1)]);
    assert.equal(exit, 0, text);
    const { out } = await ran(scenario, ['report', '-o', 'json']);
    const { connections = [] } = (JSON.parse(out) as RunReport).history?.network ?? {};
    assert.deepEqual([connections.length, connections.filter(({ outside }) => outside).length], [16, 8]);
  });

  it('are between pods of the one node where there is no other', async () => {
    const { exit, text } = await ran(await ground(1), RUN);
    assert.equal(exit, 0, text);
    assert.match(text, /Measured: 2 connections of pods on 1 node: 0 broke/);
  });

  it('are on nodes spread over the list where there are many', async () => {
    const scenario = await ground(12);
    const nodes = new Set<string>();
    scenario.cluster.store.listen(({ kind, before, after }) => {
      const name = after?.metadata.name ?? '';
      if (kind.plural === K.Job.plural && !before && name.includes('answers'))
        nodes.add(/node-\d\d/.exec(JSON.stringify(after?.spec))?.[0] ?? '');
    });
    assert.equal((await ran(scenario, [...RUN, '--canary', 'node-12', '--soak', '1m'])).exit, 0);
    assert.deepEqual([...nodes], ['node-12', 'node-02', 'node-04', 'node-06', 'node-08', 'node-10']);
  });

  for (const [title, prepare, because] of [
    ['no node takes pods', noNode, /no node with an agent takes pods/],
    ['a node pulls no image', (s: Scenario) => s.cluster.nodes.fault('node-02', 'image-pull'), /the pod on node-02: ImagePullBackOff/],
    ['the namespace is not there', (s: Scenario) => s.cluster.store.delete(K.Namespace, 'probe'), /probe/],
  ] as const) {
    it(`are none where ${title}: a warning, and nothing is left`, async () => {
      const scenario = await ground();
      prepare(scenario);
      const { text } = await ran(scenario, [...WAITLESS, ...PROBE]);
      assert.equal(text.match(new RegExp(`Warning: no connections are kept: .*${because.source}`, 'g'))?.length, 1, text);
      assert.doesNotMatch(text, /keeps changing/);
      assert.ok(newOn(scenario).length >= 3, 'the agents are upgraded all the same');
      assert.deepEqual(await leftIn(scenario), []);
    });

    it(`that have to last, and are none where ${title}, stop before anything is changed`, async () => {
      const scenario = await ground();
      prepare(scenario);
      const { exit, text } = await ran(scenario, [...WAITLESS, ...PROBE, '--probe-strict']);
      assert.equal(exit, 5, text);
      assert.match(text, new RegExp(`error: no connections are kept: .*${because.source}.*; no agent was replaced`), text);
      assert.doesNotMatch(text, / backup: .* done/, 'it is seen before anything else');
      assert.deepEqual([newOn(scenario), await leftIn(scenario)], [[], []]);
    });
  }

  it('that have to last are tried by apply where no backup does it, which has then written nothing', async () => {
    const scenario = await ground();
    scenario.cluster.nodes.fault('node-02', 'image-pull');
    const { exit, text } = await ran(scenario, [...RUN, '--skip', 'backup', '--probe-strict']);
    assert.equal(exit, 5, text);
    assert.match(text, /error: no connections are kept: .*ImagePullBackOff.*; no agent was replaced/);
    assert.match(text, /undo +nothing to undo: this run has not changed the service$/m);
    assert.doesNotMatch(text, /may have changed/);
    const { text: status } = await ran(scenario, ['status']);
    assert.match(status, /^undo: nothing to undo/m);
    assert.doesNotMatch(status, /changed: apply/);
  });

  it('are none where no kubelet answers for logs: that is one warning, soon', async () => {
    const scenario = await ground();
    const { raw } = scenario.cluster;
    const asked: number[] = [];
    Object.assign(scenario.cluster, {
      raw: async (path: string) => {
        if (!path.includes('/log?')) return raw(path);
        asked.push(scenario.clock.now().getTime());
        throw new ApiFailure(500, 'InternalError', 'dial tcp 198.18.0.1:10250: no route to host');
      },
    });
    const { exit, text } = await ran(scenario, RUN);
    assert.equal(exit, 0, text);
    assert.match(text, /Warning: no connections are kept: its log cannot be read: .*dial tcp 198\.18\.0\.1:10250: no route to host$/m);
    assert.ok((asked.at(-1) ?? 0) - (asked[0] ?? 0) <= 12_000, 'it is given up after ten seconds');
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('are not begun without the right to read what their pods say: before anything is changed', async () => {
    const scenario = await ground();
    noLogs(scenario);
    const { exit, text } = await ran(scenario, RUN);
    assert.deepEqual([exit, newOn(scenario), await leftIn(scenario)], [3, [], []], text);
    assert.match(text, /NS-009 1 permission missing: get pods\/log in probe/);
  });

  it('are ended by the cluster where the run was killed, and begun again by the next', async () => {
    const scenario = await ground();
    const { faults } = scenario.cluster;
    atNew(scenario, 1, () => faults.plan({ at: faults.writes + 1, kill: 'before' }));
    assert.notEqual((await ran(scenario, RUN)).exit, 0);
    faults.revive();
    scenario.state.holder = undefined;
    assert.ok((await leftIn(scenario)).length > 0);
    const { exit, text } = await ran(scenario, RUN);
    assert.equal(exit, 0, text);
    await scenario.clock.sleep(24 * 3_600_000);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('are refused as a condition without connections, and where an operator replaces the agents', async () => {
    const { exit, text } = await ran(await ground(1), ['run', '--yes', '--probe-strict']);
    assert.deepEqual([exit, /error: --probe-strict has no effect without --probe-network$/m.test(text)], [64, true], text);
  });

  it('are planned once where an operator replaces the agents: before it starts', async () => {
    const { scenario, profile } = await groundOf('operator');
    const flags = { 'probe-network': true, 'probe-image': 'busybox:1.37', 'probe-namespace': 'default', 'dry-run': 'server' } as const;
    const { plans, message } = await performIn(scenario, [applyStage, waitStage], flags, { profile });
    const planned = plans.flatMap(({ id, actions }) => actions.filter(({ effect }) => effect.type === 'keep-connections').map(() => id));
    assert.deepEqual(planned, ['apply'], message);
  });

  it('are in the report of the run: each node, and each connection on the axis of time', async () => {
    const scenario = await ground();
    atNew(scenario, 2, ([node = '']) => cut(scenario, node));
    assert.equal((await ran(scenario, RUN)).exit, 0);
    const { out } = await ran(scenario, ['report', '-o', 'html']);
    assert.match(out, /<h2[^>]*>Connections between pods/);
    assert.match(out, /node-01 \(upgraded as \d of 4\): longest gap \d\.\d s, \d broken connection/);
    assert.match(out, /class="bar b-failed"/);
  });
});

function withoutNode({ spec, ...job }: KubeObject): KubeObject {
  return { ...job, spec: JSON.parse(JSON.stringify(spec).replace(/"values":\["node-\d\d"\]/, '"values":["nowhere"]')) };
}

const WAITLESS = ['run', '--yes', '--skip', 'cli'];

function noNode({ cluster }: Scenario): void {
  for (const node of cluster.store.list(K.Node)) cluster.store.update(K.Node, { ...node, spec: { unschedulable: true } } as KubeObject);
}

function noLogs({ cluster }: Scenario): void {
  Object.assign(cluster, {
    reviewAccess: async (requests: readonly { readonly subresource?: string }[]) =>
      requests.map(({ subresource }) => subresource !== 'log'),
  });
}
