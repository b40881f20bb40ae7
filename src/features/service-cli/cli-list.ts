import { cliObjects } from '../../kernel/cli-answer.ts';
import type { EnginePorts } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ToolResult } from '../../kernel/ports.ts';
import type { StoreExpected } from './store-identity.ts';

/** The service's own CLI as it was found: the file, and the arguments that configure it. */
export interface CliCall {
  readonly program: string;
  readonly args: readonly string[];
  /** In key-value mode: the store that it must reach at every write. */
  readonly store?: StoreExpected;
}

const CLI_LIMIT_MS = 60_000;

/** What the CLI says of a name that is not there, and warnings of its libraries: no failure of the answer. */
const HARMLESS = /^$|^[IWE]\d{4} |resource does not exist: \w+\(/;

/**
 * Those of these names that there are, without a list of the fleet. The CLI shows what it found and fails for what it did not (cli notes 1.5).
 * Throws Fault `failed` if it cannot tell.
 */
export async function cliNamed(
  { tools }: Pick<EnginePorts, 'tools'>,
  { program, args }: CliCall,
  plural: string,
  names: readonly string[],
): Promise<readonly KubeObject[]> {
  const run = { tool: 'netsvcctl', args: ['get', plural, ...names, '-o', 'json', ...args] } as const;
  const answer = await tools.run(run, { program, timeoutMs: CLI_LIMIT_MS });
  const isAbsence = answer.exitCode === 1 && /resource does not exist: /.test(answer.stderr);
  if (answer.exitCode === 0 || (isAbsence && answer.stderr.split('\n').every((line) => HARMLESS.test(line)))) {
    return cliObjects(answer.stdout.trim() || 'null');
  }
  throw unreadable(`${program} get ${plural} ${names.join(' ')}`, answer);
}

/** All resources of a kind as the service's CLI shows them now. Throws Fault `failed` if it cannot. */
export async function cliList(
  { tools }: Pick<EnginePorts, 'tools'>,
  { program, args }: CliCall,
  plural: string,
): Promise<readonly KubeObject[]> {
  const run = { tool: 'netsvcctl', args: ['get', plural, '-o', 'json', ...args] } as const;
  const answer = await tools.run(run, { program, timeoutMs: CLI_LIMIT_MS });
  if (answer.exitCode === 0) return cliObjects(answer.stdout);
  throw unreadable(`${program} get ${plural}`, answer);
}

function unreadable(command: string, { stderr, problem }: ToolResult): Fault {
  return new Fault('failed', `${command} failed: ${stderr.trim() || problem}`, [
    'fix what is named above, then run the same command again',
  ]);
}
