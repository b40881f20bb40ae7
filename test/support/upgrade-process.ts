import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { patient } from './patience.ts';

export const program = join(import.meta.dirname, '..', '..', 'bin', 'kubectl-netsvc_upgrade');

export interface UpgradeProcess {
  readonly exitCode?: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  /** Folder that becomes HOME: nothing of the person who runs the tests is read or written. */
  readonly home: string;
  readonly kubeconfig: string;
  /** The kubectl to be found on PATH. */
  readonly kubectl: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** All that a process said, for the message of an assertion. */
export function told({ exitCode, stdout, stderr, killed = false }: UpgradeProcess & { readonly killed?: boolean }): string {
  return `${killed ? 'killed' : `exit ${exitCode}`}\n${stdout}\n${stderr}`;
}

/** Fails with all that it said unless it ended well. */
export function assertSucceeded(result: UpgradeProcess): void {
  assert.equal(result.exitCode, 0, told(result));
}

/** The whole environment of a process in these surroundings. */
export function surroundingsEnv(around: Surroundings): Readonly<Record<string, string>> {
  const path = [dirname(around.kubectl), join(import.meta.dirname, '..', '..', 'node_modules', '.bin'), '/usr/bin', '/bin'].join(delimiter);
  return { PATH: path, HOME: around.home, KUBECONFIG: around.kubeconfig, ...around.env };
}

/** Starts the built CLI as a process of its own, off a terminal, with a clean environment. */
export const startUpgrade = (args: readonly string[], around: Surroundings, timeout?: number) =>
  startProgram(args, surroundingsEnv(around), timeout);

/** The same with just this environment. */
export const startProgram = (args: readonly string[], env: Readonly<Record<string, string>>, timeout = 280_000) =>
  execa(program, args, { reject: false, extendEnv: false, env, stdin: 'ignore', timeout: patient(timeout), maxBuffer: 50_000_000 });

export async function upgrade(args: readonly string[], around: Surroundings, timeout?: number): Promise<UpgradeProcess> {
  await mkdir(around.home, { recursive: true });
  const { exitCode, stdout, stderr } = await startUpgrade(args, around, timeout);
  // What Node warns of (listeners that leak, what is out of date) is a defect that a person would see.
  assert.doesNotMatch(stderr, /^\(node:\d+\)/m);
  return { exitCode, stdout, stderr };
}

/** Resolves as soon as the process has said it, or has ended. */
export function untilSaid(child: ReturnType<typeof startUpgrade>, words: RegExp): Promise<void> {
  let said = '';
  return new Promise((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (words.test(said)) resolve();
    });
    void child.then(() => resolve());
  });
}

/** Starts the program and ends it with SIGKILL at these words; fails if it was at its end before. */
export async function killedAt(args: readonly string[], around: Surroundings, words: RegExp): Promise<void> {
  // Of every object, so that the words can be those of one.
  const child = startUpgrade([...args, '-v=1'], around);
  await untilSaid(child, words);
  child.kill('SIGKILL');
  const { signal, stderr } = await child;
  assert.equal(signal, 'SIGKILL', `it was at its end before: ${stderr}`);
}
