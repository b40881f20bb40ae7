import { quoteArgument } from './quoting.ts';

/** Programs that an action may start. Never through a shell. */
export type Tool = 'kubectl' | 'helm' | 'netsvcctl';

/** A program and its arguments, exactly as they are executed. */
export interface Invocation {
  readonly tool: Tool;
  readonly args: readonly string[];
  /** Text for the program's standard input. */
  readonly stdin?: string;
  /** It has no use for the cluster, and gets no way to it. */
  readonly withoutCluster?: true;
  /** Variables for this program alone, beside those of its surroundings. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The apply command of the procedure (§1/5), for one file. */
export function serverSideApply(file: string, dryRun = false): Invocation {
  const args = ['apply', '--server-side', '--force-conflicts', ...(dryRun ? ['--dry-run=server'] : []), '-f', file];
  return { tool: 'kubectl', args };
}

/** The command line the user could type; the tool's name may differ from its role (calicoctl for netsvcctl). */
export function commandLine(invocation: Invocation, program: string = invocation.tool): string {
  const variables = Object.entries(invocation.env ?? {}).map(([name, value]) => `${name}=${quoteArgument(value)}`);
  return [...variables, ...[program, ...invocation.args].map(quoteArgument)].join(' ');
}

export { type Command, command } from './command.ts';

export interface ToolResult {
  /** Undefined if the program never ran or was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly problem?: 'not-found' | 'timed-out' | 'cancelled' | 'signal';
  readonly durationMs: number;
}

export interface RunToolOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Runs this very file instead of looking the tool up. */
  readonly program?: string;
  /** For reading commands: `earlier` may reuse this process's answer; `anew` asks and stores it. Default: asks, stores nothing. */
  readonly answer?: 'earlier' | 'anew';
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
}

/** Programs on this machine, always pinned to the chosen cluster and user. */
export interface Tools {
  run(invocation: Invocation, options?: RunToolOptions): Promise<ToolResult>;
  /** Every file of that name on PATH, first first. */
  which(program: string): Promise<readonly string[]>;
  /** The name that a role has here: `netsvcctl` → `calicoctl`. */
  programOf(tool: Tool): string;
  /** This machine, in the words of release artifacts: linux/darwin/windows, amd64/arm64. */
  platform(): { readonly os: string; readonly arch: string };
  /** Whose package a file is; undefined for the user's own files. */
  ownerOf(file: string): Promise<FileOwner | undefined>;
}

/** Whose package a file is; `perhaps a package` where packages are installed that only their manager knows. */
export type FileOwner = { readonly manager: string; readonly removeWith: string } | 'perhaps a package';
