import { commandLine, type Invocation, type RunToolOptions, type Tools } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';

/** Where a chart is. */
export interface ChartPlace {
  /** A name in `repository`, `repo/name`, an OCI address, a packed file or a folder. */
  readonly ref: string;
  readonly repository?: string;
  readonly release: string;
}

/** A chart as the chart tool is told which one. */
export function chartArgs({ ref, repository, release }: ChartPlace): readonly string[] {
  return [ref, ...(repository === undefined ? [] : ['--repo', repository]), '--version', release];
}

const CHANGES: readonly string[] = ['upgrade', 'install'];

/**
 * A command of helm about one chart: `helm show values CHART …`. What only reads or renders a chart gets no cluster, for the templates of a
 * chart may read any object (`lookup`).
 */
export function helmOn(chart: ChartPlace, words: readonly string[], more: readonly string[] = []): Invocation {
  const args = [...words, ...chartArgs(chart), ...more];
  return { tool: 'helm', args, ...(CHANGES.includes(words[0] ?? '') ? {} : { withoutCluster: true }) };
}

/** A chart is fetched, or a cluster of thousands of objects compared. */
const LIMIT_MS = 180_000;

/** Whether helm's earlier answer in this command is enough, or the cluster may have changed since. */
export type HelmAnswer = NonNullable<RunToolOptions['answer']>;

/** What a reading command of the chart tool prints. Throws Fault('failed') with its own last words. */
export async function runHelm(tools: Tools, invocation: Invocation, answer: HelmAnswer = 'earlier'): Promise<string> {
  const result = await tools.run(invocation, { timeoutMs: LIMIT_MS, answer });
  if (result.problem === 'not-found') throw new Fault('failed', 'helm is not on PATH', ['install helm 3.14 or newer']);
  const line = commandLine(invocation);
  const see = [`see for yourself: ${line}`];
  if (result.problem === 'timed-out') throw new Fault('timeout', `no answer within ${LIMIT_MS / 1000} s: ${line}`, see);
  if (result.exitCode === 0) return result.stdout;
  throw new Fault('failed', lastWords(result.stderr || result.stdout), see);
}

function lastWords(text: string): string {
  const lines = text.trim().split('\n');
  const error = lines.findIndex((line) => /^error:/i.test(line));
  const last = lines.slice(error < 0 ? -4 : error).join(' | ');
  return last.slice(0, 2000) || 'helm said nothing';
}
