import { constants } from 'node:fs';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { goPlatform } from './build-plan.ts';

/** What looking for programs needs of this computer; tests have one in memory. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As Go names it: `linux/amd64`. */
  readonly platform: string;
  readonly home: string;
  isExecutable(file: string): Promise<boolean>;
  /** Exit code and what was printed; exit code 127 if there is no such program. `onLine` sees lines as they come. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<{ readonly exitCode: number; readonly output: string }>;
  /** The body of a URL; throws with the reason. */
  download(url: string): Promise<Uint8Array>;
  /** Writes an executable file: whole or not at all. Its folder need not be there. */
  writeProgram(file: string, content: Uint8Array): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Takes a lock file, whose folder need not be there; the pid of its living holder if there is one. */
  lock(file: string): Promise<number | 'taken'>;
  unlock(file: string): Promise<void>;
  sleep(ms: number): Promise<void>;
  /** One line of progress for a person. */
  say(line: string): void;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function thisMachine(): Machine {
  return {
    env: process.env,
    platform: goPlatform(process.platform, process.arch),
    home: homedir(),
    isExecutable: (file) =>
      access(file, constants.X_OK).then(
        () => true,
        () => false,
      ),
    run,
    download,
    writeProgram: async (file, content) => {
      const half = `${file}.${process.pid}`;
      await mkdir(dirname(file), { recursive: true });
      await writeFile(half, content, { mode: 0o755 });
      await rename(half, file);
    },
    rename,
    lock,
    unlock: (file) => rm(file, { force: true }),
    sleep: (ms) => sleep(ms),
    say: (line) => process.stderr.write(`${line}\n`),
  };
}

async function run(program: string, args: readonly string[], options: RunOptions = {}) {
  const result = await execa(program, args, { reject: false, all: true, stdin: 'ignore', ...options });
  return { exitCode: result.exitCode ?? 127, output: result.all ?? result.shortMessage ?? '' };
}

async function download(url: string): Promise<Uint8Array> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(300_000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function lock(file: string): Promise<number | 'taken'> {
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' });
    return 'taken';
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  const holder = Number(await readFile(file, 'utf8').catch(() => ''));
  if (holder > 0 && isAlive(holder)) return holder;
  await rm(file, { force: true }); // its holder died without giving it back
  return lock(file);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
