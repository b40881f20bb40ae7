import { effects } from '../../src/cli/effects.ts';
import type { EnginePorts } from '../../src/kernel/effect-type.ts';
import * as sandbox from '../../src/sandbox/sandbox-ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';

/** The ports of a sandbox with all that actions may do. */
export function sandboxPorts(scenario: Scenario, options?: sandbox.ProcessOptions): ReturnType<typeof sandbox.sandboxPorts> & EnginePorts {
  return { ...sandbox.sandboxPorts(scenario, options), effects };
}
