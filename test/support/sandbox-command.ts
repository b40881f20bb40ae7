import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { chain } from '../../src/features/chain.ts';
import { readInstalled } from '../../src/features/survey/index.ts';
import type { Tools } from '../../src/kernel/argv.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { type CommandBench, commandBench } from './command-bench.ts';
import { withKnownChart } from './played-helm.ts';
import { contextIn, sandboxPorts } from './sandbox-ports.ts';

/** Commands with the cluster in memory behind them, and a person at the terminal where `answers` has any. */
export function sandboxCommand(scenario: Scenario, profile: Profile = netsvc, played: (own: Tools) => Tools = (own) => own): CommandBench {
  const bench = commandBench(chain, { HOME: '/home', PATH: '/bin' });
  Object.assign(bench.seams, {
    compose: async (request: ComposeRequest) => {
      const composition = compositionOf(scenario, request, profile);
      return { ...composition, tools: played(composition.tools), artifacts: withKnownChart(composition.artifacts) };
    },
    installed: (composition: Composition) => readInstalled(composition, composition.context),
  });
  return bench;
}

/** The ports of one command on that cluster. */
export function compositionOf(scenario: Scenario, { flags, interruption }: ComposeRequest, profile: Profile = netsvc): Composition {
  const context = contextIn(scenario, flags, profile);
  return { ...sandboxPorts(scenario, { interruption }), profile, context, close: async () => undefined };
}
