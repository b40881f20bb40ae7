import assert from 'node:assert/strict';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { netsvcScenario, type Scenario } from '../../src/sandbox/scenario.ts';
import { readInstalled } from '../../src/stages/survey/installed.ts';
import type { CommandBench } from '../support/command-bench.ts';
import { compositionOf, sandboxCommand, sandboxReleases } from '../support/sandbox-command.ts';

const withRelease = (installed: string): Promise<Scenario> =>
  netsvcScenario({ nodes: 1, releasesFolder: sandboxReleases, clock: virtualClock(), cli: false, installed });

/** One command on that cluster; `change` is what is different about this machine. */
function commandOn(scenario: Scenario, change: (composition: Composition) => Composition = (one) => one): CommandBench {
  const bench = sandboxCommand(scenario);
  Object.assign(bench.seams, {
    compose: async (request: ComposeRequest) => change(compositionOf(scenario, request)),
    installed: (composition: Composition) => readInstalled(composition, composition.context),
  });
  return bench;
}

describe('a stage that is asked for alone', () => {
  const downgrades = [['apply'], ['run', '--from', 'apply', '--skip', 'cli']] as const;
  for (const command of downgrades) {
    it(`${command.join(' ')} refuses an older release than the installed one before it writes anything`, async () => {
      const scenario = await withRelease('v3.32.2');
      const { writes } = scenario.cluster.faults;
      const bench = commandOn(scenario);
      const exit = await bench.run(...command, '--yes', '--release', 'v3.26.4');
      const said = `${bench.out()}\n${bench.err()}`;
      assert.equal(exit, 3, said);
      assert.match(said, /NS-106 installed release v3\.32\.2 is newer than the target v3\.26\.4/);
      assert.match(said, /Choose a newer target with --release/);
      assert.deepEqual([scenario.cluster.faults.writes, scenario.state.record], [writes, undefined]);
    });
  }
});
