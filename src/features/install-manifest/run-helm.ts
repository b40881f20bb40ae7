import { commandLine, type Invocation } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import type { RunToolOptions, Tools } from '../../kernel/ports.ts';

/** A chart is fetched, or a cluster of thousands of objects compared. */
const LIMIT_MS = 180_000;

/** Whether what the chart tool said before in this command will do, or the cluster may have changed since. */
export type HelmAnswer = NonNullable<RunToolOptions['answer']>;

/** What a reading command of the chart tool prints. Throws Fault('failed') with its own last words. */
export async function runHelm(tools: Tools, invocation: Invocation, answer: HelmAnswer = 'earlier'): Promise<string> {
  const result = await tools.run(invocation, { timeoutMs: LIMIT_MS, answer });
  if (result.problem === 'not-found') throw new Fault('failed', 'helm is not on PATH', ['install helm 3.14 or newer']);
  if (result.problem === 'timed-out')
    throw new Fault('timeout', `no answer within ${LIMIT_MS / 1000} s: ${commandLine(invocation)}`, [
      `see for yourself: ${commandLine(invocation)}`,
    ]);
  if (result.exitCode === 0) return result.stdout;
  throw new Fault('failed', lastWords(result.stderr || result.stdout), [`see for yourself: ${commandLine(invocation)}`]);
}

function lastWords(text: string): string {
  const lines = text.trim().split('\n');
  const error = lines.findIndex((line) => /^error:/i.test(line));
  return (
    lines
      .slice(error < 0 ? -4 : error)
      .join(' | ')
      .slice(0, 2000) || 'helm said nothing'
  );
}
