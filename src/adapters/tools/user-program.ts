import type { ToolResult } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import { mask } from '../../kernel/hidden.ts';
import type { Environment } from '../kubeconfig/connection.ts';
import { executable, programFile } from './files-of.ts';
import { type ProgramRun, runProgram } from './run-program.ts';

/** A program of the user, and how long it may take. */
export interface UserProgram extends Pick<ProgramRun, 'stdin' | 'signal'> {
  readonly program: string;
  readonly args?: readonly string[];
  readonly env: Environment;
  readonly limitMs: number;
}

/** The file to start for what a flag names. Throws Fault('usage') where there is none that can be started. */
export async function userProgram(flag: string, name: string, env: Environment): Promise<string> {
  const program = await programFile(name, env);
  if (program !== undefined && (await executable(program).catch(() => undefined)) !== undefined) return program;
  throw new Fault('usage', `--${flag}: ${name} is no program that can be started`, [
    'name a file that may be executed (chmod +x), or a program in PATH',
  ]);
}

export interface UserProgramEnd {
  readonly durationMs: number;
  /** Why it failed; absent where it did not. */
  readonly because?: string;
  readonly isCut: boolean;
}

/** Starts it with the user's environment, and waits for its end. */
export async function runUserProgram({ program, args = [], env, limitMs, ...run }: UserProgram): Promise<UserProgramEnd> {
  const defined = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  const result = await runProgram(program, args, { ...run, env: defined, timeoutMs: limitMs, keepsLast: true });
  const because = failureOf(result, limitMs);
  return { durationMs: result.durationMs, ...(because === undefined ? {} : { because }), isCut: result.problem === 'cancelled' };
}

function failureOf({ problem, exitCode, stdout, stderr }: ToolResult, limitMs: number): string | undefined {
  if (problem === 'not-found') return 'it could not be started';
  if (problem === 'timed-out') return `it did not end within ${limitMs / 1000} s and was killed`;
  if (problem !== undefined) return 'it was ended';
  if (exitCode === 0) return undefined;
  const said = mask((stderr.trim() || stdout.trim()).split('\n').at(-1) ?? '').slice(0, 200);
  return `it ended with exit code ${exitCode}${said === '' ? '' : `: ${said}`}`;
}
