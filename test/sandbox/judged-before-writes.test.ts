import assert from 'node:assert/strict';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { readInstalled } from '../../src/features/survey/detect.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import type { CommandBench } from '../support/command-bench.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';

const withRelease = (installed: string): Promise<Scenario> => installedSandbox({ nodes: 1, cli: false, installed });

/** One command on that cluster; `change` is what is different about this machine. */
function commandOn(scenario: Scenario, change: (composition: Composition) => Composition = (one) => one): CommandBench {
  const bench = sandboxCommand(scenario);
  Object.assign(bench.seams, {
    compose: async (request: ComposeRequest) => change(compositionOf(scenario, request)),
    installed: (composition: Composition) => readInstalled(composition, composition.context),
  });
  return bench;
}

/** A machine with that kubectl, or with none. */
function kubectlOf(version: string | undefined): (composition: Composition) => Composition {
  return (composition) => {
    const { tools } = composition;
    const answer = { exitCode: 0, stdout: `{"clientVersion":{"gitVersion":"${version}"}}`, stderr: '', durationMs: 1 };
    const absent = { exitCode: undefined, stdout: '', stderr: '', problem: 'not-found', durationMs: 1 } as const;
    const run: Composition['tools']['run'] = async (invocation, options) => {
      if (invocation.tool !== 'kubectl') return tools.run(invocation, options);
      if (version === undefined) return absent;
      return invocation.args[0] === 'version' ? answer : tools.run(invocation, options);
    };
    const which: Composition['tools']['which'] = async (program) =>
      program === 'kubectl' && version === undefined ? [] : tools.which(program);
    return { ...composition, tools: { ...tools, run, which } };
  };
}

describe('a stage that is asked for alone', () => {
  const machines = {
    'no kubectl on PATH': [kubectlOf(undefined), /NS-003 kubectl is not on PATH/],
    'a kubectl that is too old': [kubectlOf('v1.15.12'), /NS-004 kubectl v1\.15\.12 is older/],
  } as const;
  for (const [title, [change, says]] of Object.entries(machines)) {
    it(`apply with ${title} ends with one error before it writes anything`, async () => {
      const scenario = await withRelease('v3.26.4');
      const { writes } = scenario.cluster.faults;
      const bench = commandOn(scenario, change);
      const exit = await bench.run('apply', '--yes');
      const said = `${bench.out()}\n${bench.err()}`;
      assert.equal(exit, 3, said);
      assert.match(said, says);
      assert.match(said, /Download kubectl/);
      assert.match(said, /^ *fix: curl -fLO https:\/\/dl\.k8s\.io\/release\/v1\.36\.1\/bin\/\w+\/\w+\/kubectl$/m);
      assert.equal(bench.err().match(/^error: /gm)?.length, 1, said);
      assert.deepEqual([scenario.cluster.faults.writes, scenario.state.record], [writes, undefined]);
    });
  }

  const downgrades = [['apply'], ['run', '--from', 'apply', '--skip', 'cli']] as const;
  for (const command of downgrades) {
    it(`${command.join(' ')} refuses an older release than the installed one before it writes anything`, async () => {
      const scenario = await withRelease(NETSVC_TARGET);
      const { writes } = scenario.cluster.faults;
      const bench = commandOn(scenario);
      const exit = await bench.run(...command, '--yes', '--release', 'v3.26.4');
      const said = `${bench.out()}\n${bench.err()}`;
      assert.equal(exit, 3, said);
      assert.match(said, pattern`NS-106 installed release ${NETSVC_TARGET} is newer than the target v3\.26\.4`);
      assert.match(said, /Choose a newer target with --release/);
      assert.deepEqual([scenario.cluster.faults.writes, scenario.state.record], [writes, undefined]);
    });
  }
});
