import assert from 'node:assert/strict';
import { soakOf } from '../../src/cli/canary-status.ts';
import type { CanaryStatus, StatusDocument } from '../../src/cli/documents.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { UserCommands } from '../../src/kernel/user-command.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { AGENTS, agentPods, agents, roll, setAgent, setVariable, waved } from '../support/canary-sandbox.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

async function shown(scenario: Scenario, ...argv: readonly string[]): Promise<string> {
  const bench = sandboxCommand(scenario, waved);
  await bench.run(...argv);
  return bench.out();
}

/** What status says in the middle of a run, after so many minutes of it. */
async function during(scenario: Scenario, minutes: readonly number[], ...argv: readonly string[]): Promise<readonly string[]> {
  const said: Promise<string>[] = [];
  for (const minute of minutes) scenario.clock.schedule(minute * 60_000, () => said.push(shown(scenario, 'status')));
  await shown(scenario, ...argv);
  return Promise.all(said);
}

describe('what a command says that it changed', () => {
  for (const more of [[], ['--probe', 'true']] as const)
    it(`has the agents that others follow: commit ${more.join(' ')}`, async () => {
      const scenario = await installedSandbox({ nodes: 3, cli: false });
      await shown(scenario, 'run', '--yes', '--canary', '1', ...more);
      assert.match(await shown(scenario, 'commit', '--yes', ...more), /^Changed by this command: 1 DaemonSet, 1 Deployment \(apply\)/m);
    });

  it('leads to the plan that takes it back, without the flags that go one way', async () => {
    const scenario = await installedSandbox({ nodes: 3, cli: false });
    const out = await shown(scenario, 'run', '--yes', '--canary', '1', '--soak', '1m', '--max-failed', '1');
    assert.match(out, /^What can be undone now: kubectl netsvc-upgrade plan --rollback --max-failed=1$/m);
  });

  it('has the agents of a canary that was begun before, where Ctrl-C ends the soak', async () => {
    const scenario = await installedSandbox({ nodes: 3, cli: false });
    const stopped = async (ms: number, ...argv: readonly string[]) => {
      const bench = sandboxCommand(scenario, waved);
      scenario.clock.schedule(ms, () => bench.engine.soft.abort());
      assert.equal(await bench.run(...argv), 130, bench.err());
      return bench.out();
    };
    await stopped(2_000, 'run', '--yes', '--canary', '2', '--soak', '1h');
    const out = await stopped(600_000, 'run', '--yes', '--canary', '2', '--soak', '1h');
    assert.match(out, /^Changed by this command: 1 DaemonSet \(apply\)\.$/m);
    assert.match(out, /^ +means +no further agent is replaced: the update strategy stays OnDelete\. New nodes, /m);
  });
});

describe('what status says of agents that are held', function () {
  this.timeout(120_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 6, cli: false });
  });

  it('names no old agent as replaced where somebody has undone the template, and says what new ones get', async () => {
    const { template } = agents(scenario).spec as { readonly template: unknown };
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    await shown(scenario, 'run', '--yes', '--canary', '1');
    assert.match(await shown(scenario, 'status'), /agents that somebody deletes, get the release that the run installs/);
    const undo = [{ op: 'replace', path: '/spec/template', value: template }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, undo, 'kubectl-rollout');
    await scenario.clock.sleep(60_000);
    const out = await shown(scenario, 'status');
    assert.doesNotMatch(out, /replaced and ready/);
    assert.match(out, /agents that somebody deletes, get v3\.26\.4, which is in its template now/);
  });

  it('counts a soak once all chosen agents are ready', async () => {
    scenario.cluster.nodes.fault('node-02', 'not-ready');
    scenario.clock.schedule(9 * 60_000, () => scenario.cluster.nodes.fault('node-02', 'none'));
    const flags = ['--canary', '3', '--soak', '30m', '--timeout', '20m'];
    const [early = '', soak = ''] = await during(scenario, [8, 20], 'run', '--yes', ...flags);
    assert.match(
      early,
      /^canary: 1 of 6 agents replaced and ready \(node-01\)\n {2}node-02: replaced, not ready: .*\n {2}soak: 30m, counted once all chosen agents are ready$/m,
    );
    assert.match(soak, /^canary: 3 of 6 .*, all of them for .*\n {2}soak: \d+m.* of 30m$/m);
  });

  it('says that a run without the lock was interrupted, at one of which steps, and that its soak begins again', async () => {
    const said: Promise<readonly string[]>[] = [];
    const killed = async () => {
      delete scenario.state.holder;
      return Promise.all([shown(scenario, 'status'), shown(scenario, 'status', '-o', 'json')]);
    };
    scenario.clock.schedule(8 * 60_000, () => said.push(killed()));
    await shown(scenario, 'run', '--yes', '--canary', '1', '--soak', '30m');
    const [out = '', json = ''] = (await said[0]) ?? [];
    assert.match(out, /: not finished, at one of steps \d+–\d+ of \d+ \(apply\)$/m);
    assert.match(out, /^apply +interrupted +began \d+m\S* ago +its command was killed, or lost its connection to the cluster$/m);
    assert.match(out, /^canary: 1 of 6 .*\n {2}soak: 30m, not over: it begins again in a resumed run$/m);
    const { record, soak } = JSON.parse(json) as StatusDocument;
    assert.deepEqual([record?.stages.find(({ id }) => id === 'apply')?.state, soak], ['interrupted', { ms: 1_800_000, isCut: true }]);
  });

  for (const pace of [[], ['--max-unavailable', '2']] as const)
    it(`counts the agents of a killed rollout, which nobody watches: run ${pace.join(' ')}`, async () => {
      const said: Promise<readonly string[]>[] = [];
      const killed = async () => {
        delete scenario.state.holder;
        return Promise.all([shown(scenario, 'status'), shown(scenario, 'verify')]);
      };
      scenario.clock.schedule(12_000, () => said.push(killed()));
      await shown(scenario, 'run', '--yes', ...pace);
      const [out = '', verify = ''] = (await said[0]) ?? [];
      assert.match(out, /^agents: [1-4] of 6 agents replaced and ready \(node-.*\).*; the DaemonSet replaces the others by itself$/m);
      assert.match(out, /^ {2}node-0\d: replaced, not ready: /m);
      // The controllers have still to be applied.
      assert.match(verify, /NS-303 [\s\S]*?no wait changes that[^\n]*\n {4}next: kubectl netsvc-upgrade run$/m);
      assert.doesNotMatch(verify, /next: kubectl netsvc-upgrade wait/);
    });

  it('shows no soak that is over while the others follow', async () => {
    scenario.cluster.nodes.fault('node-05', 'not-ready');
    scenario.clock.schedule(18 * 60_000, () => scenario.cluster.nodes.fault('node-05', 'none'));
    const flags = ['--canary', '1', '--soak', '10m', '--after-node', 'true', '--timeout', '20m'];
    const [first = '', rest = ''] = await during(scenario, [5, 15], 'run', '--yes', ...flags);
    assert.match(first, /^ {2}soak: \d+m.* of 10m$/m);
    assert.match(rest, /^agents: 4 of 6/m);
    assert.doesNotMatch(rest, /soak:/);
  });

  it('shows none that is over while the others follow in a run that is resumed', async () => {
    scenario.cluster.nodes.fault('node-05', 'not-ready');
    scenario.clock.schedule(24 * 60_000, () => scenario.cluster.nodes.fault('node-05', 'none'));
    const run = ['run', '--yes', '--canary', '1', '--soak', '10m', '--after-node', 'true', '--timeout', '20m'];
    const first = sandboxCommand(scenario, waved);
    scenario.clock.schedule(5 * 60_000, () => first.engine.soft.abort());
    assert.equal(await first.run(...run), 130, first.err());
    assert.match(first.err(), /^error: stopped in the soak, after \d+m.* of 10m: nothing was being written$/m);
    const [soak = '', rest = ''] = await during(scenario, [5, 14], ...run);
    assert.match(soak, /^ {2}soak: \d+m.* of 10m$/m);
    assert.match(rest, /^agents: 4 of 6/m);
    assert.doesNotMatch(rest, /soak:/);
  });

  it('counts a soak from its new beginning where the agent of a chosen node was replaced', async () => {
    scenario.clock.schedule(8 * 60_000, () => {
      const pod = agentPods(scenario).find((one) => nodeOf(one) === 'node-01');
      scenario.cluster.store.delete(K.Pod, pod?.metadata.name ?? '', AGENTS.namespace);
    });
    const [before = '', after = ''] = await during(scenario, [7, 14], 'run', '--yes', '--canary', '1', '--soak', '10m');
    assert.match(before, /^ {2}soak: [67]m.* of 10m$/m);
    assert.match(after, /^ {2}soak: 5m.* of 10m$/m);
  });

  it('shows the soak after Typha', async () => {
    const { scenario: typha, profile } = await groundOf('typha');
    typha.cluster.nodes.add(2);
    await typha.clock.sleep(60_000);
    const status = sandboxCommand(typha, profile);
    let looked: Promise<number> | undefined;
    const observe: Observer = (event) => {
      if (event.type !== 'action-started' || event.action.id !== 'soak-typha') return;
      typha.clock.schedule(120_000, () => {
        looked = status.run('status');
      });
    };
    const { exit } = await performIn(typha, [applyStage], { canary: '1', soak: '30m' }, { profile, observe });
    assert.deepEqual([exit, await looked], ['done', 0]);
    assert.match(status.out(), /^soak: 2m.* of 30m$/m);
  });

  it('counts a soak of nodes that a selector chose, also with another new agent beside them', async () => {
    for (const name of ['node-02', 'node-04']) {
      const node = scenario.cluster.store.get(K.Node, name);
      assert.ok(node);
      scenario.cluster.store.update(K.Node, { ...node, metadata: { ...node.metadata, labels: { ...node.metadata.labels, pool: 'a' } } });
    }
    scenario.clock.schedule(5 * 60_000, () => scenario.cluster.nodes.add(1));
    const [soak = ''] = await during(scenario, [10], 'run', '--yes', '--canary', 'pool=a', '--soak', '30m');
    assert.match(soak, /^canary: 2 of 7 .*\n {2}besides: node-07, .*\n {2}soak: \d+m.* of 30m$/m);
  });

  const deleteAgent = (node: string) => {
    const pod = agentPods(scenario).find((one) => nodeOf(one) === node);
    scenario.cluster.store.delete(K.Pod, pod?.metadata.name ?? '', AGENTS.namespace);
  };

  it('shows apart an agent that somebody deleted, in the order of names before the canary', async () => {
    await shown(scenario, 'run', '--yes', '--canary', 'node-03');
    for (const [argv, next] of [
      [['report'], 'status'],
      [['plan', '--canary', '1'], 'commit'],
    ] as const)
      assert.match(await shown(scenario, ...argv), new RegExp(`\nNext: kubectl netsvc-upgrade ${next}$`, 'm'), argv.join(' '));
    deleteAgent('node-01');
    await scenario.clock.sleep(60_000);
    assert.match(
      await shown(scenario, 'status'),
      /^canary: 1 of 6 agents replaced and ready \(node-03\).*\n {2}besides: node-01, new and ready: joined since, or the agent was deleted$/m,
    );
    // A number means the same nodes again.
    assert.match(
      await shown(scenario, 'run', '--yes', '--canary', '1'),
      /stop for you: only node-03 has|1 of 6 agents has v\S+ and is ready \(node-03\)/,
    );
    deleteAgent('node-02');
    await scenario.clock.sleep(60_000);
    setAgent(scenario, 'node-02', 'not-ready');
    const document = JSON.parse(await shown(scenario, 'status', '-o', 'json')) as { readonly canary: CanaryStatus };
    const { ready, others, notReady } = document.canary;
    assert.deepEqual(
      [ready, others, notReady.map(({ node, isOther }) => [node, isOther])],
      [['node-03'], ['node-01'], [['node-02', true]]],
    );
  });

  it('takes no agent that the run itself replaced after the soak for one that somebody deleted', async () => {
    scenario.cluster.nodes.fault('node-05', 'not-ready');
    const run = sandboxCommand(scenario, waved);
    scenario.clock.schedule(14 * 60_000, () => run.engine.soft.abort());
    const flags = ['--canary', '1', '--soak', '10m', '--after-node', 'true'];
    assert.equal(await run.run('run', '--yes', ...flags, '--timeout', '20m'), 130, run.err());
    const besides =
      /besides: node-02, node-03, node-04, new and ready: replaced after the canary, joined since, or the agent was deleted$/m;
    assert.match(await shown(scenario, 'status'), besides);
    assert.match(
      await shown(scenario, 'plan', ...flags),
      /; new already on node-02, node-03, node-04 and 1 more, which were replaced later, joined, or whose agent was deleted\. They are/,
    );
  });

  it('calls it a canary where the record names no nodes', async () => {
    await shown(scenario, 'run', '--yes', '--canary', '1');
    const { record } = scenario.state as { record: { canary?: readonly string[] } };
    delete record.canary;
    assert.match(await shown(scenario, 'status'), /^canary: 1 of 6 agents replaced and ready \(node-01\)/m);
  });

  it('counts as chosen what further commands of the run chose', async () => {
    await shown(scenario, 'run', '--yes', '--canary', 'node-05');
    const plan = await shown(scenario, 'plan', '--canary', 'node-02');
    assert.match(
      plan,
      /only the agent of node-02 is replaced first \(1 of 6\), besides the agent of node-05, which this run replaced before\./,
    );
    await shown(scenario, 'run', '--yes', '--canary', 'node-02');
    assert.match(await shown(scenario, 'status'), /^canary: 2 of 6 agents replaced and ready \(node-02, node-05\)/m);
  });

  it('leads where the run that failed does: to its pod, and to the same run again', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    const nextOf = (out: string) => out.trimEnd().split('\n').at(-1);
    const stopped = nextOf(await shown(scenario, 'run', '--yes', '--canary', '1'));
    assert.match(stopped ?? '', /^Next: kubectl -n kube-system logs /);
    const out = await shown(scenario, 'status');
    assert.equal(nextOf(out), stopped);
    assert.match(out, /^Once the cause is fixed, resume with: kubectl netsvc-upgrade run --canary=1$/m);
    assert.doesNotMatch(out, /commit/);
    assert.match(await shown(scenario, 'wait'), /no agent is replaced until you resume it/);
    for (const command of ['wait', 'verify']) assert.doesNotMatch(await shown(scenario, command), /commit/, command);
  });

  it('knows the hold, and waits for nothing, also where somebody removed the annotation', async () => {
    await shown(scenario, 'run', '--yes', '--canary', '1');
    const unmark = [{ op: 'remove', path: '/metadata/annotations/netsvc-upgrade~1strategy' }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, unmark, 'kubectl-annotate');
    const out = await shown(scenario, 'status');
    assert.match(out, /^canary: 1 of 6 agents replaced and ready \(node-01\)/m);
    assert.match(out, /for this run alone: OnDelete: new nodes/);
    const before = scenario.clock.now().getTime();
    const bench = sandboxCommand(scenario, waved);
    assert.equal(await bench.run('wait'), 5, bench.err());
    assert.ok(scenario.clock.now().getTime() - before < 60_000);
  });

  it('names none as somebody else’s where the annotation of a canary that failed was removed', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    await shown(scenario, 'run', '--yes', '--canary', '1');
    const unmark = [{ op: 'remove', path: '/metadata/annotations/netsvc-upgrade~1strategy' }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, unmark, 'kubectl-annotate');
    const out = await shown(scenario, 'status');
    assert.match(out, /for this run alone: OnDelete: new nodes, and agents that somebody deletes, get the release that the run installs/);
    assert.match(out, /^canary: /m);
    assert.doesNotMatch(out, /not of this run/);
  });

  it('names the OnDelete of the user while a run is at work, who replaces the agents', async () => {
    const own = [{ op: 'replace', path: '/spec/updateStrategy', value: { type: 'OnDelete' } }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, own, 'kubectl-patch');
    await scenario.clock.sleep(60_000);
    const [out] = await during(scenario, [5], 'run', '--yes', '--accept', 'NS-407', '--accept', 'NS-208');
    assert.match(out ?? '', /^DaemonSet\/kube-system\/netsvc-node has the update strategy OnDelete, not of this run: /m);
  });

  it('calls a RollingUpdate that somebody has set beside a held canary no pace of the run', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    await shown(scenario, 'run', '--yes', '--canary', '1', '--max-unavailable', '2');
    await roll(scenario, true);
    const out = await shown(scenario, 'status');
    assert.match(out, /^not held any more, so .* has the update strategy RollingUpdate, maxUnavailable 1\./m);
  });

  it('lists no Secret, and needs no right to, beside agents that are held', async () => {
    await shown(scenario, 'run', '--yes', '--canary', '1');
    for (const look of ['status', 'wait']) {
      const bench = sandboxCommand(scenario, waved);
      const { compose } = bench.seams;
      const refusing = async (...how: Parameters<typeof compose>) => {
        const composed = await compose(...how);
        const keptWith = async () => {
          throw new ApiFailure(403, 'Forbidden', 'secrets is forbidden');
        };
        return { ...composed, records: { ...composed.records, keptWith } };
      };
      Object.assign(bench.seams, { compose: refusing });
      const exit = await bench.run(look);
      assert.deepEqual([exit, bench.err().includes('forbidden')], [look === 'status' ? 0 : 5, false], bench.err());
    }
  });

  for (const keepsMark of [true, false])
    it(`says that agents are not held any more where somebody gave them RollingUpdate, ${keepsMark ? 'with' : 'without'} the annotation`, async () => {
      await shown(scenario, 'run', '--yes', '--canary', '1');
      await roll(scenario, keepsMark);
      await scenario.clock.sleep(600_000);
      const out = await shown(scenario, 'status');
      assert.match(out, /^agents: 6 of 6 agents replaced and ready/m);
      assert.match(
        out,
        /^not held any more, so .* has the update strategy RollingUpdate, maxUnavailable 1\. Continue with: kubectl netsvc-upgrade commit$/m,
      );
    });

  it('names the OnDelete that somebody has set beside a run that failed, as not of the run', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    await shown(scenario, 'run', '--yes');
    const hold = [{ op: 'replace', path: '/spec/updateStrategy', value: { type: 'OnDelete' } }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, hold, 'kubectl-patch');
    const out = await shown(scenario, 'status');
    assert.match(out, /^DaemonSet\/kube-system\/netsvc-node has the update strategy OnDelete, not of this run: an agent is replaced when/m);
    assert.doesNotMatch(out, /for this run alone|commit/);
  });

  it('says so beside a canary that failed, and leads to the same run again', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    await shown(scenario, 'run', '--yes', '--canary', '1');
    await roll(scenario, true);
    assert.match(
      await shown(scenario, 'status'),
      /^not held any more, so .* has the update strategy RollingUpdate, maxUnavailable 1\. Continue with: kubectl netsvc-upgrade run --canary=1$/m,
    );
  });

  it('has no wait for what nobody applies once all agents were replaced so', async () => {
    await shown(scenario, 'run', '--yes', '--canary', '1');
    await roll(scenario, true);
    await scenario.clock.sleep(600_000);
    const bench = sandboxCommand(scenario, waved);
    assert.equal(await bench.run('wait'), 5, bench.err());
    assert.match(bench.out() + bench.err(), /nothing rolls out: [\s\S]*continue: kubectl netsvc-upgrade commit/);
  });

  it('leads to the run that is at work, and to no other beside it', async () => {
    const said: Promise<string>[] = [];
    scenario.clock.schedule(300_000, () => said.push(shown(scenario, 'verify'), shown(scenario, 'report')));
    await shown(scenario, 'run', '--yes', '--canary', '1', '--soak', '30m');
    for (const one of await Promise.all(said)) assert.match(one, /\nNext: kubectl netsvc-upgrade status --watch\n/);
  });

  it('leads to the canary again, and not to the rest, where somebody has changed the template', async () => {
    await shown(scenario, 'run', '--yes', '--canary', 'node-02');
    await setVariable(scenario, 'other');
    await scenario.clock.sleep(60_000);
    const out = await shown(scenario, 'status');
    assert.match(out, /No agent that is there has its template: kubectl netsvc-upgrade run --canary=node-02$/m);
    assert.doesNotMatch(out, /All other agents follow/);
  });

  it('calls them no canary where --canary was not given', async () => {
    const commands: UserCommands = {
      run: async (name, { node }) =>
        name === 'before-node' && node === 'node-02' ? { durationMs: 1, because: 'refused' } : { durationMs: 1 },
    };
    const ports = sandboxPorts(scenario, { commands });
    await performIn(scenario, [applyStage], { 'before-node': 'drain {node}' }, { profile: waved, ports });
    const out = await shown(scenario, 'status');
    assert.match(out, /^agents: 1 of 6 agents replaced and ready \(node-01\)/m);
    assert.match(out, /^left at apply: the agent of node-02 was not replaced: undo there what --before-node did/m);
    assert.match(
      out,
      /^Once the cause is fixed, resume with: kubectl netsvc-upgrade run\nNext: kubectl get pods -A -o wide --field-selector spec\.nodeName=node-02$/m,
    );
    assert.doesNotMatch(out, /commit/);
    assert.match(await shown(scenario, 'report'), /\nNext: kubectl get pods -A -o wide --field-selector spec\.nodeName=node-02$/m);
    // A probe that fails later knows of no node.
    const { record } = scenario.state as { record: { stages: readonly object[] } };
    Object.assign(record, { flags: ['--probe=(hidden)'], stages: record.stages.map((one) => ({ ...one, node: undefined })) });
    assert.match(await shown(scenario, 'status'), /\nNext: kubectl -n kube-system get pods -o wide -l k8s-app=netsvc-node$/m);
    assert.match(
      await shown(scenario, 'report'),
      /^Once the cause is fixed, resume with: kubectl netsvc-upgrade run\nNext: kubectl netsvc-upgrade status$/m,
    );
  });

  it('names what commit needs besides, and what of it is from the record', async () => {
    await shown(scenario, 'run', '--yes', '--canary', '1', '--after-node', 'true', '--timeout', '20m');
    const bench = sandboxCommand(scenario, waved);
    assert.equal(await bench.run('status'), 0);
    const said = (bench.out() + bench.err()).replaceAll(/\s+/g, ' ');
    assert.match(said, /All other agents follow with: kubectl netsvc-upgrade commit --timeout=20m/);
    assert.match(said, /the run was begun with --after-node, and no run record holds a command give it again: --after-node COMMAND; /);
    assert.match(said, /undo: possible: kubectl netsvc-upgrade rollback --timeout=20m \(refused without --after-node COMMAND\) /);
  });

  it('has what a further look at a held canary found', async () => {
    const canary = ['run', '--yes', '--canary', '1'];
    const state = async () => /^apply +(\w+)/m.exec(await shown(scenario, 'status'))?.[1];
    const states = [await shown(scenario, ...canary).then(state)];
    setAgent(scenario, 'node-01', 'not-ready');
    const failed = sandboxCommand(scenario, waved);
    assert.equal(await failed.run(...canary, '-o', 'json'), 124, failed.err());
    const { stages } = JSON.parse(failed.out()) as { readonly stages: readonly { readonly id: string; readonly state: string }[] };
    states.push(stages.find(({ id }) => id === 'apply')?.state, await state());
    setAgent(scenario, 'node-01', 'ready');
    states.push(await shown(scenario, ...canary).then(state));
    assert.deepEqual(states, ['held', 'failed', 'failed', 'held']);
  });

  it('says that the agent of a lost node is not ready', async () => {
    await shown(scenario, 'run', '--yes', '--canary', '1');
    scenario.cluster.nodes.fault('node-01', 'down');
    await scenario.clock.sleep(300_000);
    assert.match(
      await shown(scenario, 'status'),
      /^canary: 0 of 6 agents replaced and ready\n {2}node-01: replaced, not ready: node is not ready/m,
    );
  });

  for (const soak of ['9x', '0', '99999999h'])
    it(`leaves out a soak of the record that is no time: ${soak}`, async () => {
      const { state } = scenario;
      scenario.cluster.nodes.fault('node-01', 'not-ready');
      scenario.clock.schedule(5 * 60_000, () => {
        const { record } = state as { record: { flags?: readonly string[] } };
        Object.assign(record, { flags: ['--canary=1', `--soak=${soak}`] });
      });
      const [out = ''] = await during(scenario, [6], 'run', '--yes', '--canary', '1', '--soak', '30m');
      assert.match(out, /^canary: 0 of 6/m);
      assert.doesNotMatch(out, /soak:/);
    });

  it('shows the soak of whoever holds the lock, and by no clock of another machine', () => {
    const [since, now] = ['2026-01-01T00:00:00Z', new Date('2026-01-01T00:10:00Z')];
    const watch = { since, ms: 1_800_000, by: 'anna@host-1/17/run-2' };
    const record = { stages: [{ id: 'apply', state: 'running', startedAt: since, watch }] } as const;
    const shownTo = (identity: string) =>
      soakOf(record, { identity, acquiredAt: '2026-01-01T00:00:20Z', renewedAt: '2026-01-01T00:09:50Z' }, null, now);
    assert.deepEqual(shownTo(watch.by), { since, ms: watch.ms });
    assert.equal(shownTo('anna@host-1/18/run-3'), null);
  });
});
