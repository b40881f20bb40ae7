import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A process of the test ground. */
export type Running = Awaited<ReturnType<typeof launch>>;

/** Processes that end together, and their folder with them: at `stopAll`, when this process dies, or after the given minutes. */
export type Processes = Awaited<ReturnType<typeof superviseProcesses>>;

const WATCHDOG = fileURLToPath(new URL('watchdog.ts', import.meta.url));

/** With logs below this folder, which disappears with the processes. */
export async function superviseProcesses(folder: string, maxMinutes: number) {
  const logs = join(folder, 'logs');
  await mkdir(logs, { recursive: true });
  const watchdog = startWatchdog(maxMinutes, folder);
  const all: Running[] = [];
  return {
    async start(name: string, program: string, args: readonly string[]) {
      const running = await launch(watchdog, join(logs, `${name}.log`), name, program, args);
      all.push(running);
      return running;
    },
    async stopAll() {
      await Promise.all(all.map((running) => running.stop(0)));
      await dismiss(watchdog);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Detached, so that Ctrl-C at a terminal reaches this process and not the watchdog. */
function startWatchdog(maxMinutes: number, folder: string): ChildProcess {
  const watchdog = spawn(process.execPath, [WATCHDOG, String(maxMinutes), folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watchdog.stdin?.on('error', () => undefined); // it has ended, and everything with it
  watchdog.unref();
  (watchdog.stdin as { unref?(): void } | null)?.unref?.();
  return watchdog;
}

const isOver = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function dismiss(watchdog: ChildProcess): Promise<void> {
  if (isOver(watchdog)) return;
  const gone = once(watchdog, 'exit');
  watchdog.ref();
  watchdog.stdin?.end('done\n');
  await gone;
}

async function launch(watchdog: ChildProcess, log: string, name: string, program: string, args: readonly string[]) {
  const output = openSync(log, 'a');
  const before = fstatSync(output).size;
  // Nothing of the caller's cluster settings may reach the control plane.
  const { KUBECONFIG: _kubeconfig, ...env } = process.env;
  const child = spawn(program, args, { detached: true, stdio: ['ignore', output, output], env });
  closeSync(output);
  if (child.pid === undefined) {
    const [problem] = await once(child, 'error');
    throw new Error(`${name} did not start: ${String(problem)}`);
  }
  watchdog.stdin?.write(`+${child.pid}\n`);
  child.on('exit', () => watchdog.stdin?.write(`-${child.pid}\n`));
  child.unref();
  return {
    name,
    /** True once it has printed this since it was started. */
    said: async (words: string) => (await readFile(log)).subarray(before).includes(words),
    ended: () => isOver(child),
    /** What it printed last, for messages. */
    tail: async () => (await readFile(log, 'utf8').catch(() => '')).split('\n').slice(-15).join('\n'),
    /** Ends it and waits until it has; forced after the grace time. */
    stop: (graceMs = 5000) => end(child, graceMs),
  };
}

async function end(child: ChildProcess, graceMs: number): Promise<void> {
  if (isOver(child)) return;
  const gone = once(child, 'exit');
  child.ref();
  child.kill(graceMs === 0 ? 'SIGKILL' : 'SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(force);
}
