import type { CliCall } from '../core/action.ts';
import { cliObjects } from '../core/cli-answer.ts';
import { Fault } from '../core/fault.ts';
import type { KubeObject } from '../core/object.ts';
import type { EnginePorts } from './engine-ports.ts';

const CLI_LIMIT_MS = 60_000;

/** All resources of a kind as the service's CLI shows them now. Throws Fault `failed` if it cannot. */
export async function cliList(
  { tools }: Pick<EnginePorts, 'tools'>,
  { program, args }: CliCall,
  plural: string,
): Promise<readonly KubeObject[]> {
  const run = { tool: 'netsvcctl', args: ['get', plural, '-o', 'json', ...args] } as const;
  const answer = await tools.run(run, { program, timeoutMs: CLI_LIMIT_MS });
  if (answer.exitCode === 0) return cliObjects(answer.stdout);
  throw new Fault('failed', `${program} get ${plural} failed: ${answer.stderr.trim() || answer.problem}`, [
    'mend what is named above, then continue with the same command',
  ]);
}
