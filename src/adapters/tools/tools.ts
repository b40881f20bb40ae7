import { quoteArgument, type Tool } from '../../kernel/argv.ts';
import { interrupted } from '../../kernel/interruption.ts';
import type { ToolResult, Tools } from '../../kernel/ports.ts';
import type { Environment } from '../kubeconfig/connection.ts';
import type { Trace } from '../trace.ts';
import { type WrittenSum, withDocument } from './document.ts';
import { filesOf } from './files-of.ts';
import { ownerOf } from './package-owner.ts';
import { runProgram } from './run-program.ts';
import { argumentsFor, environmentFor } from './surroundings.ts';

export interface ToolsOptions {
  /** The private kubeconfig: every program talks to the chosen cluster as the chosen user. */
  readonly kubeconfigPath: string;
  /** What this process wrote into the work folder: kubectl is given no other document. Unless said, none. */
  readonly written?: WrittenSum;
  /** Writes it; asked before each program. */
  readonly prepare?: (tool: Tool) => Promise<unknown>;
  /** The configuration by which the service's CLI reaches the chosen cluster. */
  readonly cliConfigPath?: string;
  readonly env: Environment;
  readonly programs: Readonly<Record<Tool, string>>;
  /** Variables that would send the service's CLI to another datastore; `NAME*` means all that begin so. */
  readonly cliEnvironment: readonly string[];
  /** Limit of each request, as kubectl writes it. */
  readonly requestTimeout?: string;
  /** Ctrl-C: ends what nobody else ends. */
  readonly cut?: AbortSignal | undefined;
  /** Who wants to see what is run. */
  readonly trace?: Trace | undefined;
}

/** Programs by argv, never through a shell, all pinned to one cluster (house rule 5). */
export function openTools(options: ToolsOptions): Tools {
  const { written = () => undefined } = options;
  const which = (program: string) => filesOf(program, options.env);
  return {
    which,
    ownerOf: (file) => ownerOf(file, options.env, { cut: options.cut }),
    programOf: (tool) => options.programs[tool],
    platform: () => ({
      os: process.platform === 'win32' ? 'windows' : process.platform,
      arch: process.arch === 'x64' ? 'amd64' : process.arch,
    }),
    run: async (invocation, run = {}) => {
      await options.prepare?.(invocation.tool);
      const program = run.program ?? options.programs[invocation.tool];
      const { args: given, document, from } = await withDocument(invocation, written);
      const args = argumentsFor({ ...invocation, args: given }, options);
      const result = await runProgram(program, args, {
        ...run,
        ...(run.signal === undefined && options.cut !== undefined ? { signal: options.cut } : {}),
        env: { ...environmentFor(invocation.tool, options), ...invocation.env },
        ...(invocation.stdin === undefined ? {} : { stdin: invocation.stdin }),
        ...(document === undefined ? {} : { stdin: document.fd }),
      }).finally(() => document?.close());
      options.trace?.say(
        `${[program, ...args].map(quoteArgument).join(' ')}${from === undefined ? '' : ` < ${quoteArgument(from)}`}: ${endText(result)} in ${Math.round(result.durationMs)} milliseconds`,
      );
      // Whoever gave no signal does not expect to be cut off: it is no answer of the program.
      if (result.problem === 'cancelled' && run.signal === undefined) throw interrupted();
      return result;
    },
  };
}

function endText({ exitCode, problem }: ToolResult): string {
  return problem ?? `exit ${exitCode}`;
}
