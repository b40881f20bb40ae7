import { constants } from 'node:fs';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { patient } from '../support/patience.ts';
import { goPlatform } from './build-plan.ts';

/** What looking for programs needs of this computer; tests have one in memory. */
export type Machine = Readonly<Omit<ReturnType<typeof thisMachine>, 'env'>> & { readonly env: Readonly<NodeJS.ProcessEnv> };

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function thisMachine() {
  return {
    env: process.env,
    /** As Go names it: `linux/amd64`. */
    platform: goPlatform(process.platform, process.arch),
    home: homedir(),
    isExecutable: (file: string) =>
      access(file, constants.X_OK).then(
        () => true,
        () => false,
      ),
    run,
    download,
    /** Writes an executable file: whole or not at all. Its folder need not be there. */
    async writeProgram(file: string, content: Uint8Array) {
      const half = `${file}.${process.pid}`;
      await mkdir(dirname(file), { recursive: true });
      await writeFile(half, content, { mode: 0o755 });
      await rename(half, file);
    },
    rename: (from: string, to: string) => rename(from, to),
    lock,
    unlock: (file: string) => rm(file, { force: true }),
    sleep: (ms: number): Promise<void> => sleep(ms),
    /** One line of progress for a person. */
    say: (line: string) => void process.stderr.write(`${line}\n`),
  };
}

/** Exit code and what was printed; exit code 127 if there is no such program. */
async function run(program: string, args: readonly string[], options: RunOptions = {}) {
  const result = await execa(program, args, { reject: false, all: true, stdin: 'ignore', ...options });
  return { exitCode: result.exitCode ?? 127, output: result.all ?? result.shortMessage ?? '' };
}

/** The body of a URL; throws with the reason. */
async function download(url: string): Promise<Uint8Array> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(patient(300_000)) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Takes a lock file, whose folder need not be there; the pid of its living holder if there is one. */
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
