import assert from 'node:assert/strict';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { chains } from '../../src/features/chain.ts';
import { interrupted, interruptionOf } from '../../src/kernel/interruption.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import type { UserCommands } from '../../src/kernel/user-command.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { newOn, strategy, waved } from '../support/canary-sandbox.ts';
import { HOOKS, hooked } from '../support/hooked.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const HELD = { type: 'OnDelete' };

describe('commands around each node of a run that ends early', function () {
  this.timeout(60_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 3 });
  });

  it('at Ctrl-C: the agent of a node that is prepared meanwhile is not replaced', async () => {
    const stop = new AbortController();
    const interruption = interruptionOf(stop.signal, new AbortController().signal);
    const says = (call: string) => (call === 'before-node node-02' ? void stop.abort() : undefined);
    const { exit, message, steps, told, lines } = await hooked(scenario, HOOKS, says, { ports: { interruption } });
    await scenario.clock.sleep(60_000);
    assert.equal(message, 'stopped once --before-node of node-02 had ended');
    assert.deepEqual(lines.slice(-2), ['runs --before-node of node-02', 'stops once --before-node of node-02 has ended']);
    assert.deepEqual([exit, newOn(scenario), strategy(scenario), told.length], ['interrupted', ['node-01'], HELD, 3]);
    assert.match(steps.join('\n'), /--before-node was run for node-02, whose agent this run did not replace: undo there what it did/);
    const status = sandboxCommand(scenario, waved);
    await status.run('status');
    assert.match(status.out(), /^left at apply: --before-node was run for node-02, whose agent this run did not replace: undo there what/m);
  });

  it('and is resumed: an --after-node that nobody runs there any more is told in its plan, at its end, and later', async () => {
    const OWED = /^left on nodes: do on node-01 yourself what --after-node does: a resumed run does not run it there again$/m;
    const shown = async (...argv: readonly string[]) => {
      const bench = sandboxCommand(scenario, waved);
      await bench.run(...argv);
      return bench.out();
    };
    await hooked(scenario, HOOKS, (call) => (call === 'after-node node-01' ? 'refused' : undefined));
    const left = new RegExp(OWED.source.replace('on nodes', 'at apply'), 'm');
    for (const argv of [['plan', '--after-node', 'true'], ['status'], ['report']]) assert.match(await shown(...argv), left, argv.join(' '));
    const resumed = sandboxCommand(scenario, waved);
    resumed.answers = [true];
    assert.equal(await resumed.run('run', '--after-node', 'true'), 0);
    assert.match(resumed.err(), left, 'before the question');
    assert.match(resumed.out(), OWED);
    for (const command of ['status', 'report']) assert.match(await shown(command), OWED, command);
    assert.match(JSON.parse(await shown('report', '-o', 'json')).owed.join(), /^do on node-01 yourself what --after-node does/);
  });

  it('are named by a plan of the rest that is not given them', async () => {
    assert.equal(await sandboxCommand(scenario, waved).run('run', '--yes', '--canary', '1', '--before-node', 'true'), 5);
    for (const given of [[], ['--before-node', 'true']]) {
      const plan = sandboxCommand(scenario, waved);
      assert.equal(await plan.run('plan', ...given), 0, plan.err());
      const isNamed = /^the run was begun with --before-node, and no run record holds a command\n {2}give it again: --before-node COMMAND/m;
      assert.equal(isNamed.test(plan.out()), given.length === 0);
    }
  });

  it('counts the agents in its last screen', async () => {
    const bench = sandboxCommand(scenario, waved);
    const { compose } = bench.seams;
    const commands: UserCommands = {
      run: async (_, { node }) => ({ durationMs: 1, ...(node === 'node-02' ? { because: 'refused' } : {}) }),
    };
    Object.assign(bench.seams, { compose: async (request: ComposeRequest) => ({ ...(await compose(request)), commands }) });
    assert.equal(await bench.run('run', '--yes', '--before-node', './drain.sh {node}'), 5, bench.err());
    assert.match(bench.out(), /^STOPPED at apply, step \d+ of \d+ · 1 of 3 nodes on v\S+$/m);
  });

  it('are asked for again where the run goes the other way', async () => {
    const bench = sandboxCommand(scenario, waved);
    const { compose } = bench.seams;
    const back = async (request: ComposeRequest) => {
      const composed = await compose(request);
      const { records, profile, context } = composed;
      const goal = await goalBack(records, { clusterUid: context.clusterUid, profile, readRecord: (one) => one as RunRecord });
      return { ...composed, context: { ...context, goal, intent: { kind: 'rollback' } as const } };
    };
    const refused = async (...argv: readonly string[]) => {
      const told = bench.err().length;
      assert.equal(await bench.run(...argv), 64, bench.err().slice(told));
      assert.match(bench.err().slice(told), /the run was begun with --after-node, which is not given now/);
    };
    const hooks = ['--probe', 'true', '--after-node', 'true'];
    assert.equal(await bench.run('run', '--yes', '--canary', '1', ...hooks), 5);
    Object.assign(bench.seams, { compose: back, loadChain: async () => chains.rollback });
    await refused('rollback', '--yes');
    scenario.clock.schedule(2_000, () => bench.engine.soft.abort());
    assert.equal(await bench.run('rollback', '--yes', '--after-node', 'true'), 130, bench.err());
    Object.assign(bench.seams, { compose, loadChain: async () => chains.upgrade });
    await refused('run', '--yes', '--accept', 'NS-012');
    const status = sandboxCommand(scenario, waved);
    await status.run('status');
    assert.match(status.out(), /forward again, .* kubectl netsvc-upgrade run --release v\S+ \(refused without --after-node COMMAND\)$/m);
  });

  for (const [status, exit] of [
    [403, 'failed'],
    [0, 'failed'],
  ] as const)
    it(`where the server does not delete an agent (${status}): nodes that are prepared are named`, async () => {
      const { cluster } = scenario;
      const remove: typeof cluster.remove = async (kind, ref, ...all) => {
        if (kind === K.Pod) throw new ApiFailure(status, '', 'the server says no');
        await cluster.remove(kind, ref, ...all);
      };
      const ended = await hooked(scenario, HOOKS, undefined, { ports: { cluster: { ...cluster, remove } } });
      assert.deepEqual([ended.exit, ended.message, newOn(scenario)], [exit, 'the server says no', []]);
      assert.match(
        ended.steps.join('\n'),
        /^--before-node was run for node-01, whose agent this run did not replace: undo there what it did\n/,
      );
      assert.ok(ended.steps.length > 1, 'what the server’s answer means is said, too');
    });

  it('at a second Ctrl-C while one hangs: what is replaced is told as changed, and status names the node', async () => {
    const bench = sandboxCommand(scenario, waved);
    const { compose } = bench.seams;
    const commands: UserCommands = {
      async run(_, { node }) {
        if (node === 'node-03') throw interrupted();
        return { durationMs: 1 };
      },
    };
    await bench.run('run', '--yes', '--canary', '1', '--before-node', 'true');
    Object.assign(bench.seams, { compose: async (request: ComposeRequest) => ({ ...(await compose(request)), commands }) });
    const before = bench.out().length;
    assert.equal(await bench.run('commit', '--yes', '--before-node', 'true'), 130, bench.err());
    assert.match(
      bench.out().slice(before),
      /^Changed by this command: 1 DaemonSet \(apply\)\. The step that did not end may have changed more\.$/m,
    );
    const status = sandboxCommand(scenario, waved);
    await status.run('status');
    assert.match(status.out(), /^left at apply: --before-node was run for node-03, whose agent this run did not replace: undo there what/m);
  });

  it('at a second Ctrl-C between two nodes: those that are done are not named', async () => {
    const says = (call: string) => {
      if (call === 'after-node node-02') throw interrupted();
      return undefined;
    };
    const { exit, steps } = await hooked(scenario, { ...HOOKS, 'max-unavailable': '2' }, says);
    assert.equal(exit, 'interrupted');
    assert.match(steps.join('\n'), /--after-node was not run for node-02: do there yourself what it does, once the agent is ready/);
  });
});
