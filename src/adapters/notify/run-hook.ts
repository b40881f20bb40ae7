import type { ToolResult } from '../../kernel/argv.ts';
import { withoutCredentials } from '../../kernel/hidden.ts';
import { runProgram } from '../tools/run-program.ts';
import type { SendOptions } from './post.ts';

/** A script may send a mail or ask a slow server. */
const LIMIT_MS = 30_000;
const OUTPUT_BYTES = 64 * 1024;

/** Starts a program with one JSON document on its standard input, and waits for its end. Rejects with why it failed. */
export async function runHook(program: string, text: string, { env, cut }: Pick<SendOptions, 'env' | 'cut'>): Promise<void> {
  const defined = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const result = await runProgram(program, [], {
    env: Object.fromEntries(defined),
    stdin: text,
    timeoutMs: LIMIT_MS,
    signal: cut,
    outputLimit: OUTPUT_BYTES,
  });
  const because = failureOf(result);
  if (because !== undefined) throw new Error(because);
}

function failureOf({ problem, exitCode, stderr }: ToolResult): string | undefined {
  if (problem === 'not-found') return 'it could not be started';
  if (problem === 'timed-out') return `it did not end within ${LIMIT_MS / 1000} s and was killed`;
  if (problem !== undefined) return 'it was ended';
  if (exitCode === 0) return undefined;
  const said = withoutCredentials(stderr.trim().split('\n').at(-1) ?? '').slice(0, 200);
  return `it ended with exit code ${exitCode}${said === '' ? '' : `: ${said}`}`;
}
