import { devNull } from 'node:os';
import type { Invocation, Tool, ToolResult, Tools } from '../../kernel/argv.ts';
import { interrupted } from '../../kernel/interruption.ts';
import { quoteArgument } from '../../kernel/quoting.ts';
import type { Environment } from '../kubeconfig/connection.ts';
import type { Trace } from '../trace.ts';
import { filesOf, programFile } from './files-of.ts';
import { ownerOf } from './package-owner.ts';
import { runProgram } from './run-program.ts';
import { type WrittenSum, withDocument } from './written-file.ts';

/** What pins a program to the chosen cluster. */
export interface Surroundings {
  /** The private kubeconfig: every program talks to the chosen cluster as the chosen user. */
  readonly kubeconfigPath: string;
  /** The configuration of the service's CLI that leads to the chosen cluster; absent where the profile does not say how it is written. */
  readonly cliConfigPath?: string;
  readonly env: Environment;
  /** Variables that would send the service's CLI to another datastore; `NAME*` means all that begin so. */
  readonly cliEnvironment: readonly string[];
  /** Limit of each request, as kubectl writes it. */
  readonly requestTimeout?: string;
}

export interface ToolsOptions extends Surroundings {
  /** What this process wrote into the work folder: kubectl is given no other document. Unless said, none. */
  readonly written?: WrittenSum;
  /** Writes the private kubeconfig; asked before each program. */
  readonly prepare?: (tool: Tool) => Promise<unknown>;
  readonly programs: Readonly<Record<Tool, string>>;
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
    ownerOf,
    programOf: (tool) => options.programs[tool],
    platform: () => ({
      os: process.platform === 'win32' ? 'windows' : process.platform,
      arch: process.arch === 'x64' ? 'amd64' : process.arch,
    }),
    run: async (invocation, run = {}) => {
      if (!invocation.withoutCluster) await options.prepare?.(invocation.tool);
      const pinned = invocation.withoutCluster ? withoutCluster(options) : options;
      const program = options.programs[invocation.tool];
      const file = run.program ?? (await programFile(program, options.env));
      const { args: given, document, from } = await withDocument(invocation, written);
      const args = argumentsFor({ ...invocation, args: given }, pinned);
      const result = await runProgram(file, args, {
        ...run,
        ...(run.signal === undefined && options.cut !== undefined ? { signal: options.cut } : {}),
        env: { ...environmentFor(invocation.tool, pinned), ...invocation.env },
        ...(invocation.stdin === undefined ? {} : { stdin: invocation.stdin }),
        ...(document === undefined ? {} : { stdin: document.fd }),
      }).finally(() => document?.close());
      options.trace?.say(
        `${[run.program ?? program, ...args].map(quoteArgument).join(' ')}${from === undefined ? '' : ` < ${quoteArgument(from)}`}: ${result.problem ?? `exit ${result.exitCode}`} in ${Math.round(result.durationMs)} milliseconds`,
      );
      // Without a signal of its own the caller does not expect an interruption, which is no answer of the program.
      if (result.problem === 'cancelled' && run.signal === undefined) throw interrupted();
      return result;
    },
  };
}

/** Programs that are not asked the same twice where an earlier answer will do (`answer`). Only what went well is remembered. */
export function rememberAnswers(tools: Tools): Tools {
  const answers = new Map<string, Promise<ToolResult>>();
  return {
    ...tools,
    async run(invocation, options = {}) {
      const { answer, ...rest } = options;
      if (answer === undefined) return tools.run(invocation, rest);
      const key = JSON.stringify(invocation);
      const before = answer === 'earlier' ? answers.get(key) : undefined;
      if (before) return before;
      const asked = tools.run(invocation, rest);
      answers.set(key, asked);
      const forget = () => answers.get(key) === asked && answers.delete(key);
      try {
        const result = await asked;
        if (result.exitCode !== 0) forget();
        return result;
      } catch (thrown) {
        forget();
        throw thrown;
      }
    },
  };
}

/** An empty kubeconfig, which keeps helm from the user's own, and nothing of the pod that this may be. */
function withoutCluster(options: ToolsOptions): ToolsOptions {
  const env = Object.fromEntries(Object.entries(options.env).filter(([name]) => !name.startsWith('KUBERNETES_')));
  return { ...options, env, kubeconfigPath: devNull };
}

/** kubectl and helm get the cluster by flag as well: no alias or wrapper with a context of its own wins over it. */
export function argumentsFor(
  { tool, args }: Invocation,
  { kubeconfigPath, cliConfigPath, requestTimeout }: Omit<Surroundings, 'env'>,
): readonly string[] {
  if (tool === 'netsvcctl') return withConfig(args, cliConfigPath);
  const timeout = tool === 'kubectl' && requestTimeout !== undefined ? [`--request-timeout=${requestTimeout}`] : [];
  return [`--kubeconfig=${kubeconfigPath}`, ...timeout, ...args];
}

/** Without a named configuration file the CLI uses one from a usual place, despite its environment (cli notes 1.3). */
function withConfig(args: readonly string[], cliConfigPath: string | undefined): readonly string[] {
  const isNamed = args.some((argument) => argument.startsWith('--config='));
  return isNamed || cliConfigPath === undefined ? args : [...args, `--config=${cliConfigPath}`];
}

/** Given by us alone. */
const PINNED: readonly string[] = ['KUBECONFIG', 'KUBERC'];

/** Variables that would send the chart tool to another cluster, user, namespace or release store than the detected one. */
const HELM_STRAYS: readonly string[] = ['HELM_KUBE*', 'HELM_NAMESPACE', 'HELM_DRIVER'];

/** The user's own defaults for kubectl may name another server by a flag that nobody wrote (`defaults` of a kuberc file). */
const KUBECTL_ALONE = { KUBERC: 'off' } as const;

/** Gives the service's CLI exactly one of its many datastore settings (cli notes §1.3). On Windows names ignore case. */
export function environmentFor(
  tool: Tool,
  { env, cliEnvironment, kubeconfigPath }: Surroundings,
  platform: string = process.platform,
): Record<string, string> {
  const named = (name: string) => (platform === 'win32' ? name.toUpperCase() : name);
  const ownCli = tool === 'netsvcctl';
  const strays = ownCli ? cliEnvironment : tool === 'helm' ? HELM_STRAYS : [];
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !PINNED.includes(named(entry[0])) && !isStray(named(entry[0]), strays),
  );
  const given: Readonly<Record<string, string>> = ownCli ? { DATASTORE_TYPE: 'kubernetes' } : tool === 'kubectl' ? KUBECTL_ALONE : {};
  return { ...Object.fromEntries(kept), KUBECONFIG: kubeconfigPath, ...given };
}

/** Each name also counts with `CALICO_` before it: the CLI prefers that form to the plain one. */
function isStray(name: string, patterns: readonly string[]): boolean {
  const plain = name.replace(/^CALICO_/, '');
  return patterns.some((pattern) => {
    if (!pattern.endsWith('*')) return pattern === name || pattern === plain;
    const start = pattern.slice(0, -1);
    return name.startsWith(start) || plain.startsWith(start);
  });
}
