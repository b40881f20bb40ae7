import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { EnginePorts } from '../../src/kernel/effect-type.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { plainText } from '../../src/kernel/step.ts';
import type { UserCommands } from '../../src/kernel/user-command.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { newOn, waved } from './canary-sandbox.ts';
import { type Flags, performIn, sandboxPorts } from './sandbox-ports.ts';

export const HOOKS = { 'before-node': './drain.sh {node}', 'after-node': './back.sh {node}' };

interface Hooked extends ChainOutcome {
  /** `before-node node-01: 0 new`: how many agents were new by then; and `probe` where the network is probed. */
  readonly told: readonly string[];
  readonly warned: readonly string[];
  /** `1/3 --before-node of node-02`. */
  readonly shown: readonly string[];
  /** `1/3`: agents that are new, of those that are to be. */
  readonly counts: readonly string[];
  /** `runs --before-node of node-02`. */
  readonly lines: readonly string[];
  /** Of each command, in milliseconds. */
  readonly limits: readonly number[];
}

interface Surroundings {
  readonly takesMs?: number;
  readonly ports?: Partial<EnginePorts>;
}

/** A run with commands around each node, which say what `says` says, or throw it. */
export async function hooked(
  scenario: Scenario,
  flags: Flags = HOOKS,
  says: (call: string) => string | undefined = () => undefined,
  { takesMs = 1000, ports = {} }: Surroundings = {},
): Promise<Hooked> {
  const [told, limits, warned, shown, lines]: [string[], number[], string[], string[], string[]] = [[], [], [], [], []];
  const counts = new Set<string>();
  const commands: UserCommands = {
    async run(name, { node, limitMs }) {
      await scenario.clock.sleep(takesMs);
      told.push(`${name} ${node}: ${newOn(scenario).length} new`);
      limits.push(limitMs);
      const because = says(`${name} ${node}`);
      return { durationMs: takesMs, ...(because === undefined ? {} : { because }) };
    },
  };
  const observe: Observer = (event) => {
    if (event.type === 'note' && event.level === 'warning') warned.push(plainText(event.text));
    if (event.type === 'action-started' && event.action.id === 'probe-between') told.push('probe');
    if (event.type === 'action-output') lines.push(event.line);
    if (event.type === 'rollout')
      for (const { pods, desired } of event.progress) counts.add(`${pods.filter(({ phase }) => phase === 'new').length}/${desired}`);
    if (event.type === 'progress') shown.push(`${event.done}/${event.of} ${event.what}`);
  };
  const all = { ...sandboxPorts(scenario, { commands }), ...ports };
  return {
    ...(await performIn(scenario, [applyStage], flags, { profile: waved, ports: all, observe })),
    told,
    warned,
    shown,
    counts: [...counts],
    lines,
    limits,
  };
}
