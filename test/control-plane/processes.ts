import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A process of the test ground. */
export interface Running {
  readonly name: string;
  readonly pid: number;
  /** What it printed last, for messages. */
  tail(): Promise<string>;
  /** True once it has printed this since it was started. */
  said(words: string): Promise<boolean>;
  ended(): boolean;
  /** Ends it and waits until it has; forced after the grace time. */
  stop(graceMs?: number): Promise<void>;
}

/** Processes that end together: at `stopAll`, when this process dies, or after the given minutes. */
export interface Processes {
  start(name: string, program: string, args: readonly string[]): Promise<Running>;
  stopAll(): Promise<void>;
}

export interface ProcessLimits {
  /** Folder of the log files; a folder above it, `remove`, disappears with the processes. */
  readonly logs: string;
  readonly remove: string;
  readonly maxMinutes: number;
}

const WATCHDOG = fileURLToPath(new URL('watchdog.ts', import.meta.url));

export async function superviseProcesses(limits: ProcessLimits): Promise<Processes> {
  await mkdir(limits.logs, { recursive: true });
  const watchdog = startWatchdog(limits);
  const all: Running[] = [];
  return {
    async start(name, program, args) {
      const running = await launch({ name, program, args, log: join(limits.logs, `${name}.log`), watchdog });
      all.push(running);
      return running;
    },
    async stopAll() {
      await Promise.all(all.map((running) => running.stop(0)));
      await dismiss(watchdog);
    },
  };
}

/** Detached, so that Ctrl-C at a terminal reaches this process and not the watchdog. */
function startWatchdog({ maxMinutes, remove }: ProcessLimits): ChildProcess {
  const watchdog = spawn(process.execPath, [WATCHDOG, String(maxMinutes), remove], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watchdog.stdin?.on('error', () => undefined); // it has ended, and everything with it
  watchdog.unref();
  (watchdog.stdin as { unref?(): void } | null)?.unref?.();
  return watchdog;
}

async function dismiss(watchdog: ChildProcess): Promise<void> {
  if (watchdog.exitCode !== null || watchdog.signalCode !== null) return;
  const gone = once(watchdog, 'exit');
  watchdog.ref();
  watchdog.stdin?.end('done\n');
  await gone;
}

interface Launch {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly log: string;
  readonly watchdog: ChildProcess;
}

async function launch({ name, program, args, log, watchdog }: Launch): Promise<Running> {
  const output = openSync(log, 'a');
  const before = fstatSync(output).size;
  const child = spawn(program, args, { detached: true, stdio: ['ignore', output, output], env: environment() });
  closeSync(output);
  const { pid } = child;
  if (pid === undefined) {
    const [problem] = await once(child, 'error');
    throw new Error(`${name} did not start: ${String(problem)}`);
  }
  watchdog.stdin?.write(`+${pid}\n`);
  child.on('exit', () => watchdog.stdin?.write(`-${pid}\n`));
  child.unref();
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const said = async (words: string) => (await readFile(log)).subarray(before).includes(words);
  return { name, pid, said, ended, tail: () => tailOf(log), stop: (graceMs = 5000) => end(child, graceMs) };
}

/** Nothing of the caller's cluster settings may reach the control plane. */
function environment(): NodeJS.ProcessEnv {
  const { KUBECONFIG: _kubeconfig, ...rest } = process.env;
  return rest;
}

async function end(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.ref();
  child.kill(graceMs === 0 ? 'SIGKILL' : 'SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(force);
}

async function tailOf(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  return text.split('\n').slice(-15).join('\n');
}
