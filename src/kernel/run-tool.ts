import type { Exec } from './action.ts';
import { commandLine } from './argv.ts';
import type { EnginePorts, OnLine } from './effect-type.ts';
import { Fault } from './fault.ts';

const LIMIT_MS = 600_000;

/** Runs the program of an action to its end, or until the signal. Throws Fault with the program's own last words. */
export async function runTool(
  { tools }: EnginePorts,
  { run, program }: Pick<Exec, 'run' | 'program'>,
  signal: AbortSignal,
  onLine: OnLine,
): Promise<void> {
  const result = await tools.run(run, { timeoutMs: LIMIT_MS, signal, onLine, ...(program === undefined ? {} : { program }) });
  const name = program ?? tools.programOf(run.tool);
  const command = commandLine(run, name);
  if (result.problem === 'not-found') {
    throw new Fault('failed', `${name} was not found on PATH`, [`install ${name}, then run the same command again`]);
  }
  if (result.problem === 'cancelled')
    throw new Fault('interrupted', `stopped in the middle of: ${command}`, ['run the same command again']);
  if (result.problem === 'timed-out') throw new Fault('timeout', `no answer within ${LIMIT_MS / 1000} s: ${command}`, CONTINUE);
  if (result.exitCode !== 0) throw new Fault('failed', `${command} failed: ${lastLines(result.stderr || result.stdout)}`, CONTINUE);
  // kubectl says `serverside-applied` and exits 0 even if its last step failed: the warning is the only sign.
  if (/failed to re-apply configuration after performing Server-Side Apply migration/.test(result.stderr)) {
    throw new Fault('failed', `${command} left an object half-changed: ${lastLines(result.stderr)}`, CONTINUE);
  }
}

export const CONTINUE = ['fix the cause, then run the same command again: what is done stays done'];

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-4).join(' | ').slice(0, 2000) || 'it said nothing';
}
