import { execa } from 'execa';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl on one control plane; a failure is an exit code, not an exception. */
export type Kubectl = (args: readonly string[], stdin?: string) => Promise<CommandResult>;

const MOST_OUTPUT = 200_000_000;

export function kubectlOf(program: string, kubeconfig: string): Kubectl {
  return async (args, stdin) => {
    const input = stdin === undefined ? { stdin: 'ignore' as const } : { input: stdin };
    const result = await execa(program, args, { env: { KUBECONFIG: kubeconfig }, reject: false, maxBuffer: MOST_OUTPUT, ...input });
    return { exitCode: result.exitCode ?? -1, stdout: String(result.stdout), stderr: String(result.stderr) };
  };
}
