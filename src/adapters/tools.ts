import { access, constants, realpath } from 'node:fs/promises';
import { execa } from 'execa';
import type { Invocation, Tool } from '../core/argv.ts';
import type { RunToolOptions, ToolResult, Tools } from '../core/ports.ts';
import type { Environment } from './kube-connection.ts';
import { ownerOf } from './package-owner.ts';
import { pathCandidates } from './path-candidates.ts';

export interface ToolsOptions {
  /** The private kubeconfig: every program talks to the chosen cluster as the chosen user. */
  readonly kubeconfigPath: string;
  readonly env: Environment;
  readonly programs: Readonly<Record<Tool, string>>;
  /** Variables that would send the service's CLI to another datastore. */
  readonly cliEnvironment: readonly string[];
  /** Limit of each request, as kubectl writes it. */
  readonly requestTimeout?: string;
}

const OUTPUT_LIMIT = 64 * 1024 * 1024;

/** Programs by argv, never through a shell, all pinned to one cluster (house rule 5). */
export function openTools(options: ToolsOptions): Tools {
  const which = async (program: string) => {
    const { env } = options;
    const candidates = pathCandidates(program, { path: env.PATH ?? '', pathExt: env.PATHEXT ?? '', platform: process.platform });
    return executableOnce(candidates);
  };
  return {
    which,
    ownerOf: (file) => ownerOf(file),
    programOf: (tool) => options.programs[tool],
    platform: () => ({
      os: process.platform === 'win32' ? 'windows' : process.platform,
      arch: process.arch === 'x64' ? 'amd64' : process.arch,
    }),
    run: (invocation, run) => runTool(invocation, options, run ?? {}),
  };
}

async function executableOnce(candidates: readonly string[]): Promise<readonly string[]> {
  const seen = new Set<string>();
  const found: string[] = [];
  for (const file of candidates) {
    const real = await access(file, constants.X_OK)
      .then(() => realpath(file))
      .catch(() => undefined);
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    found.push(file);
  }
  return found;
}

async function runTool(invocation: Invocation, options: ToolsOptions, run: RunToolOptions): Promise<ToolResult> {
  const { tool, stdin } = invocation;
  const child = execa(run.program ?? options.programs[tool], [...pinned(invocation, options)], {
    env: environmentOf(tool, options),
    extendEnv: false,
    reject: false,
    ...(stdin === undefined ? { stdin: 'ignore' as const } : { input: stdin }),
    ...(run.timeoutMs === undefined ? {} : { timeout: run.timeoutMs }),
    ...(run.signal === undefined ? {} : { cancelSignal: run.signal }),
    // Ctrl-C at the terminal reaches the whole process group: the first one must not cut a write in the middle.
    detached: process.platform !== 'win32',
    forceKillAfterDelay: 2000,
    maxBuffer: OUTPUT_LIMIT,
    windowsHide: true,
    stripFinalNewline: false,
  });
  if (run.onLine) void Promise.all([stream(child, 'stdout', run.onLine), stream(child, 'stderr', run.onLine)]).catch(() => undefined);
  const result = await child;
  return {
    exitCode: result.exitCode,
    stdout: text(result.stdout),
    stderr: text(result.stderr),
    durationMs: result.durationMs,
    ...problemOf(result),
  };
}

async function stream(
  child: { iterable(options: { from: 'stdout' | 'stderr' }): AsyncIterable<unknown> },
  from: 'stdout' | 'stderr',
  onLine: NonNullable<RunToolOptions['onLine']>,
) {
  for await (const line of child.iterable({ from })) onLine(String(line), from);
}

function text(output: unknown): string {
  return typeof output === 'string' ? output : '';
}

interface Ended {
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly isCanceled: boolean;
  readonly isTerminated: boolean;
  readonly code?: string;
}

function problemOf(result: Ended): Pick<ToolResult, 'problem'> {
  if (result.isCanceled) return { problem: 'cancelled' };
  if (result.timedOut) return { problem: 'timed-out' };
  if (result.code === 'ENOENT' || result.code === 'EACCES') return { problem: 'not-found' };
  if (result.isTerminated || result.exitCode === undefined) return { problem: 'signal' };
  return {};
}

/** kubectl and helm get the cluster by flag as well: no alias or wrapper with a context of its own wins over it. */
function pinned({ tool, args }: Invocation, { kubeconfigPath, requestTimeout }: ToolsOptions): readonly string[] {
  if (tool === 'netsvcctl') return args;
  const timeout = tool === 'kubectl' && requestTimeout !== undefined ? [`--request-timeout=${requestTimeout}`] : [];
  return [`--kubeconfig=${kubeconfigPath}`, ...timeout, ...args];
}

/** The service's CLI takes its datastore from many places; it gets exactly one (cli notes 1.3). */
function environmentOf(tool: Tool, { env, cliEnvironment, kubeconfigPath }: ToolsOptions): Record<string, string> {
  const stray = new Set(tool === 'netsvcctl' ? cliEnvironment.flatMap((name) => [name, `CALICO_${name}`]) : []);
  const kept = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !stray.has(entry[0]));
  const datastore: Record<string, string> = tool === 'netsvcctl' ? { DATASTORE_TYPE: 'kubernetes' } : {};
  return { ...Object.fromEntries(kept), KUBECONFIG: kubeconfigPath, ...datastore };
}
