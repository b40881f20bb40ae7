import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenerJob, NETWORK_PROBES } from '../../src/features/network-probe/jobs.ts';
import { KEPT_PROBES } from '../../src/features/network-probe/kept-jobs.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { AccessRequest } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const IMAGE = 'registry.netsvc.io/tools/busybox:1.37';
const PROBE = ['--probe-network', '--probe-image', IMAGE, '--probe-namespace', 'probe'];
const RUN = ['run', '--skip', 'cli', ...PROBE];
const WAIT = ['wait', ...PROBE];

async function ground(nodes = 3): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes, cli: false });
  await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
  return scenario;
}

async function upgraded(nodes = 3): Promise<Scenario> {
  const scenario = await ground(nodes);
  assert.equal(await sandboxCommand(scenario).run('run', '--yes', '--skip', 'cli'), 0);
  scenario.cluster.faults.writes = 0;
  return scenario;
}

const leftIn = async ({ cluster }: Scenario) => {
  const marks = [NETWORK_PROBES, KEPT_PROBES];
  const lists = await Promise.all([K.Job, K.Pod].flatMap((kind) => marks.map((labelSelector) => cluster.list(kind, { labelSelector }))));
  return lists.flat().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};

/** Every Job that was ever created, as `listener node-01`. */
function jobsSeen({ cluster }: Scenario): readonly string[] {
  const seen: string[] = [];
  cluster.store.listen(({ kind, before, after }) => {
    if (kind.plural === K.Job.plural && after && !before && partOf(after)) seen.push(`${partOf(after)} ${nodeOf(after)}`);
  });
  return seen;
}
const partOf = ({ metadata }: KubeObject) => /-(listener|client)-/.exec(metadata.name)?.[1];
const nodeOf = (job: KubeObject) => /node-\d\d/.exec(JSON.stringify(job.spec))?.[0];

/** As soon as the rolling update has begun, on the node where it begins. */
function atFirstUpgraded({ cluster, clock }: Scenario, act: (node: string) => void): void {
  const stop = cluster.store.listen(({ kind, before, after }) => {
    const spec = JSON.stringify(after?.spec ?? {});
    if (kind.plural !== K.Pod.plural || before || !spec.includes(`netsvc/node:${NETSVC_TARGET}`)) return;
    stop();
    clock.schedule(0, () => act(/"nodeName":"(node-\d\d)"/.exec(spec)?.[1] ?? ''));
  });
}

/** No further agent is replaced, as after the command that a stop prints. */
function hold({ cluster }: Scenario): void {
  const agents = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'netsvc-node', namespace: 'kube-system' };
  const updateStrategy = { type: 'OnDelete', rollingUpdate: null };
  cluster.registry.mergePatch(K.DaemonSet, agents, { spec: { updateStrategy } }, { manager: 'world' });
}

async function ran(scenario: Scenario, words: readonly string[], answers?: boolean[]) {
  const bench = sandboxCommand(scenario);
  bench.answers = answers;
  const exit = await bench.run(...words);
  await scenario.clock.sleep(1_000);
  return { exit, text: `${bench.err()}\n${bench.out()}`, questions: bench.questions, next: bench.out().trimEnd().split('\n').at(-1) };
}

describe('run --probe-network', () => {
  it('probes between the first upgraded node and an old one, and again at the end, and leaves nothing', async () => {
    const scenario = await ground();
    const seen = jobsSeen(scenario);
    const { exit, text } = await ran(scenario, [...RUN, '--yes']);
    assert.equal(exit, 0, text);
    const pair = (is: string) =>
      `pods on node-\\d\\d \\(upgraded\\) and node-\\d\\d \\(${is}\\) reach each other, and resolve kubernetes\\.default\\.svc$`;
    for (const [stage, is] of [
      ['apply', 'old'],
      ['wait', 'upgraded'],
    ] as const) {
      assert.match(text, new RegExp(`^\\d\\d:\\d\\d:\\d\\dZ ${stage}: {3}${pair(is)}`, 'm'));
      assert.match(text, new RegExp(`^${stage} +done +${pair(is)}`, 'm'));
    }
    const once = ['listener', 'listener', 'client', 'client'];
    assert.deepEqual(
      seen.map((one) => one.split(' ')[0]),
      [...once, ...once],
    );
    assert.deepEqual(seen.slice(4), ['listener node-01', 'listener node-03', 'client node-01', 'client node-03']);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('stops at a node whose new pods have no network, with what to look at as the next command', async () => {
    const scenario = await ground();
    atFirstUpgraded(scenario, (node) => scenario.cluster.nodes.fault(node, 'no-network'));
    const { exit, text, next } = await ran(scenario, [...RUN, '--yes']);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: a new pod on node-\d\d \(upgraded\) does not reach a pod on node-\d\d/m);
    assert.match(next ?? '', /^Next: kubectl -n kube-system logs netsvc-node-\w+ -c netsvc-node --tail=50$/);
    assert.doesNotMatch(text, /routes and rules stay in the kernel of every node/i);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('stops for what fails on the upgraded node alone, and tells names from connections', async () => {
    const scenario = await ground();
    const seen = jobsSeen(scenario);
    atFirstUpgraded(scenario, (node) => {
      scenario.cluster.nodes.fault(node, 'no-dns');
      hold(scenario);
    });
    const { exit, text } = await ran(scenario, [...RUN, '--yes']);
    assert.equal(exit, 5, text);
    assert.match(
      text,
      /a new pod on node-\d\d \(upgraded\) does not resolve kubernetes\.default\.svc, but reaches a pod on node-\d\d \(old\)/,
    );
    assert.match(text, /means {3}pods reach each other, so the way to the DNS Service is what fails/);
    assert.match(text, /to hold it: kubectl -n kube-system patch daemonset netsvc-node /);
    assert.equal(seen.length, 8, 'two old nodes were compared');
  });

  it('does not stop for what fails between old nodes as well', async () => {
    const scenario = await ground();
    atFirstUpgraded(scenario, () => {
      for (const node of ['node-01', 'node-02', 'node-03']) scenario.cluster.nodes.fault(node, 'no-dns');
      hold(scenario);
    });
    const { text } = await ran(scenario, [...RUN, '--yes', '--timeout', '1m']);
    assert.match(text, /not probed: it does not work between nodes that are not upgraded either \(a new pod on node-\d\d \(old\)/);
    assert.doesNotMatch(text, /this means/);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('is in the plan and in the question, and starts nothing in a dry run or where a person declines', async () => {
    const scenario = await ground();
    const seen = jobsSeen(scenario);
    const plan = await ran(scenario, ['plan', '--skip', 'cli', ...PROBE]);
    assert.match(
      plan.text,
      /^\d+ +apply +create Jobs on an upgraded and another node, in namespace probe with image registry\.netsvc\.io\/tools\/busybox:1\.37, 4 at a time/m,
    );
    assert.match(plan.text, /^\d+ +wait +create Jobs on an upgraded and another node, in namespace probe/m);
    assert.equal((await ran(scenario, [...RUN, '--dry-run=server'])).exit, 0);
    assert.equal((await ran(scenario, RUN, [false])).exit, 5);
    assert.deepEqual(seen, []);
  });

  it('is held to a saved plan', async () => {
    const scenario = await ground();
    const folder = await mkdtemp(join(tmpdir(), 'network-probe-'));
    const file = join(folder, 'plan.json');
    try {
      assert.equal((await ran(scenario, ['plan', '--skip', 'cli', ...PROBE, '--out', file])).exit, 0);
      const without = await ran(scenario, ['run', '--skip', 'cli', '--yes', '--plan-file', file]);
      assert.equal(without.exit, 7, without.text);
      const { exit, text } = await ran(scenario, [...RUN, '--yes', '--plan-file', file]);
      assert.equal(exit, 0, text);
      assert.match(text, /^\S+ wait: {3}pods on node-01 \(upgraded\) and node-03 \(upgraded\) reach each other/m);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('does not begin without the rights for its Jobs, and names the role with its namespace', async () => {
    const scenario = await ground();
    Object.assign(scenario.cluster, {
      reviewAccess: async (requests: readonly AccessRequest[]) =>
        requests.map(({ verb, resource }) => `${verb} ${resource}` !== 'create jobs'),
    });
    const { exit, text, next } = await ran(scenario, [...RUN, '--yes']);
    assert.equal(exit, 3, text);
    assert.match(text, /NS-009 1 permission missing: create jobs\.batch in probe/);
    assert.match(next ?? '', /permissions --probe-namespace=probe --for run /);
  });

  for (const [missing, words] of [
    ['--probe-namespace NAME', ['--probe-network', '--probe-image', IMAGE]],
    ['--probe-image IMAGE', ['--probe-network', '--probe-namespace', 'probe']],
    ['--probe-image IMAGE and --probe-namespace NAME', ['--probe-network']],
  ] as const)
    it(`refuses to begin without ${missing}`, async () => {
      const { exit, text } = await ran(await ground(1), ['run', '--yes', ...words]);
      assert.equal(exit, 64);
      assert.match(text, new RegExp(`error: --probe-network needs ${missing}$`, 'm'));
    });

  it('refuses an image that would be probed with by nothing', async () => {
    const { exit, text } = await ran(await ground(1), ['run', '--yes', '--probe-image', IMAGE]);
    assert.equal(exit, 64);
    assert.match(text, /--probe-image has no effect without --probe-network/);
  });
});

describe('wait --probe-network', () => {
  it('asks first on a terminal, takes the lock and begins no run', async () => {
    const scenario = await upgraded();
    const record = structuredClone(scenario.state.record);
    const { exit, text, questions } = await ran(scenario, WAIT, [true]);
    assert.equal(exit, 0, text);
    assert.equal(questions.length, 1);
    assert.match(questions[0] ?? '', /^Do this on context "sandbox" \(sandbox, 3 nodes\), as planned above\?$/);
    assert.match(text, /pods on node-01 \(upgraded\) and node-03 \(upgraded\) reach each other/);
    assert.deepEqual([scenario.state.record, scenario.state.holder, await leftIn(scenario)], [record, undefined, []]);
  });

  it('needs --yes off a terminal, and starts nothing without it', async () => {
    const scenario = await upgraded();
    const { exit, text } = await ran(scenario, WAIT);
    assert.deepEqual([exit, scenario.cluster.faults.writes], [64, 0], text);
  });

  it('still asks for nothing and writes nothing without the flag', async () => {
    const scenario = await upgraded();
    const { exit } = await ran(scenario, ['wait']);
    assert.deepEqual([exit, scenario.cluster.faults.writes], [0, 0]);
  });

  it('passes over nodes that take no pods, and says so where one is left', async () => {
    const scenario = await upgraded();
    for (const name of ['node-01', 'node-03']) {
      const node = scenario.cluster.store.get(K.Node, name);
      assert.ok(node);
      scenario.cluster.store.update(K.Node, { ...node, spec: { unschedulable: true } });
    }
    const { exit, text } = await ran(scenario, [...WAIT, '--yes']);
    assert.equal(exit, 0, text);
    assert.match(text, /pods on node-02 reach each other, and resolve kubernetes\.default\.svc; no second node takes pods/);
  });

  it('only warns where the image cannot be pulled: that says nothing of the network', async () => {
    const scenario = await upgraded();
    scenario.cluster.nodes.fault('node-03', 'image-pull');
    const { exit, text } = await ran(scenario, [...WAIT, '--yes']);
    assert.equal(exit, 0, text);
    assert.match(text, /the pod network was not probed: the pod on node-03: ImagePullBackOff: Back-off pulling image/);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('only warns where the server refuses the Jobs', async () => {
    const scenario = await upgraded();
    const { exit, text } = await ran(scenario, [...WAIT.slice(0, -1), 'missing', '--yes']);
    assert.equal(exit, 0, text);
    assert.match(text, /the pod network was not probed: .*missing/);
  });

  it('deletes its own Jobs by their UID, and none that only has their label', async () => {
    const scenario = await upgraded();
    const theirs = listenerJob({ namespace: 'probe', image: IMAGE, id: 'old', node: 'node-01', part: 'listener-1' });
    await scenario.cluster.create(K.Job, { ...theirs, metadata: { ...theirs.metadata, name: 'theirs' } });
    const { exit } = await ran(scenario, [...WAIT, '--yes']);
    assert.equal(exit, 0);
    const jobs = await scenario.cluster.list(K.Job, { namespace: 'probe' });
    assert.deepEqual(
      jobs.map(({ metadata }) => metadata.name),
      ['theirs'],
    );
  });

  it('deletes its Jobs at Ctrl-C too', async () => {
    const scenario = await upgraded();
    const bench = sandboxCommand(scenario);
    scenario.cluster.store.listen(({ kind, before, after }) => {
      if (kind.plural === K.Job.plural && after && !before && partOf(after) === 'client') bench.engine.soft.abort();
    });
    assert.equal(await bench.run(...WAIT, '--yes'), 130);
    await scenario.clock.sleep(1_000);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('leaves to the cluster what a killed run cannot delete', async () => {
    const scenario = await upgraded();
    const { faults } = scenario.cluster;
    const stop = scenario.cluster.store.listen(({ kind, after }) => {
      if (kind.plural === K.Job.plural && after) faults.plan({ at: faults.writes + 1, kill: 'before' });
    });
    assert.notEqual((await ran(scenario, [...WAIT, '--yes'])).exit, 0);
    stop();
    faults.revive();
    assert.equal((await leftIn(scenario)).length, 2);
    await scenario.clock.sleep(301_000);
    assert.deepEqual(await leftIn(scenario), []);
  });

  it('creates nothing that the account may not delete', async () => {
    const scenario = await upgraded();
    const seen = jobsSeen(scenario);
    Object.assign(scenario.cluster, {
      reviewAccess: async (requests: readonly AccessRequest[]) =>
        requests.map(({ verb, resource }) => `${verb} ${resource}` !== 'delete jobs'),
    });
    const { exit, text } = await ran(scenario, [...WAIT, '--yes']);
    assert.equal(exit, 0, text);
    assert.match(text, /not probed: this account may not delete Jobs in namespace probe \(docs\/reference\/permissions\.md\)/);
    assert.deepEqual(seen, []);
  });

  it('probes once more where the agent of a node was replaced meanwhile', async () => {
    const scenario = await ground();
    const { cluster } = scenario;
    const seen = jobsSeen(scenario);
    // The rolling update reaches the old node during the first probe; its new agent repairs it.
    cluster.store.listen(({ kind }) => {
      const old = seen[1]?.split(' ')[1] ?? '';
      if (kind.plural !== K.Job.plural || (seen.length !== 2 && seen.length !== 5)) return;
      const fault = seen.length === 2 ? 'no-network' : 'none';
      if (cluster.nodes.faultOf(old) !== fault) cluster.nodes.fault(old, fault);
    });
    const { exit, text } = await ran(scenario, [...RUN, '--yes']);
    assert.equal(exit, 0, text);
    assert.equal(seen.length, 12);
    assert.doesNotMatch(text, /not probed/);
  });

  it('does not speak of a rolling update that is over', async () => {
    const scenario = await upgraded();
    scenario.cluster.nodes.fault('node-01', 'no-dns');
    const { exit, text } = await ran(scenario, [...WAIT, '--yes']);
    assert.equal(exit, 5, text);
    assert.doesNotMatch(text, /keeps rolling out/);
  });
});
