import { readdir, readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import type { Clock } from '../../kernel/ports.ts';
import { AGAIN, thenAgainAs } from '../../kernel/step.ts';
import { whoAmI } from '../work-folder.ts';
import { programFile } from './files-of.ts';
import { runProgram } from './run-program.ts';

/** A program on this machine whose run has ended: it may still write to the cluster. */
export interface Orphan {
  readonly pid: number;
  /** `kubectl`, for the message. */
  readonly program: string;
}

/** A process: its id, its user and its arguments, the program first; the kubeconfig of its environment, where that can be read. */
export interface ProcessLine {
  readonly uid?: number;
  readonly pid: number;
  readonly args: readonly string[];
  readonly kubeconfig?: string;
}

/** Name of the private kubeconfig of one process of ours, in the work folder. */
export function kubeconfigName(pid: number): string {
  return `kubeconfig-${pid}`;
}

/** Name of the configuration by which the service's CLI uses that kubeconfig. */
export function cliConfigName(pid: number): string {
  return `${kubeconfigName(pid)}.cli`;
}

/** The process that a private kubeconfig, or a CLI's configuration for it, is of; undefined for any other file. */
export function ownerOfKubeconfig(name: string): number | undefined {
  const pid = /^kubeconfig-(\d+)(\.cli)?$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * Programs with the private kubeconfig of an ended run on this cluster, known by their arguments (the service's CLI by configuration file
 * or environment). `folder` is the work folder, whose last two parts name the cluster; `isAlive` excludes programs of a live run.
 */
export async function orphansOf(
  folder: string,
  isAlive: (pid: number) => boolean,
  processes: () => Promise<readonly ProcessLine[]> = listProcesses,
): Promise<readonly Orphan[]> {
  const cluster = folder.split(/[/\\]/).slice(-2).join('/');
  const { uid: me, caller } = whoAmI() ?? {};
  // Whoever may start any program would otherwise stop every run by its arguments.
  const isTrusted = ({ uid }: ProcessLine) => uid === undefined || me === undefined || [me, 0, caller].includes(uid);
  return (await processes()).filter(isTrusted).flatMap(({ pid, args, kubeconfig }) => {
    const named = [...args, ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`])];
    const owner = named.map((argument) => ownerIn(argument, cluster)).find((found) => found !== undefined);
    return owner === undefined || isAlive(owner) ? [] : [{ pid, program: programOf(args) }];
  });
}

function ownerIn(argument: string, cluster: string): number | undefined {
  const [flag, file = ''] = argument.split(/=(.*)/s);
  const parts = file.split(/[/\\]/);
  if (!['--kubeconfig', '--config'].includes(flag ?? '') || parts.slice(-3, -1).join('/') !== cluster) return undefined;
  return ownerOfKubeconfig(parts.at(-1) ?? '');
}

/** The word before our first flag: of a script the script, not its interpreter. */
function programOf(args: readonly string[]): string {
  const first = args.findIndex((argument) => argument.startsWith('--kubeconfig='));
  return basename(args[first - 1] ?? args[0] ?? 'a program');
}

async function listProcesses(): Promise<readonly ProcessLine[]> {
  if (process.platform === 'linux') return fromProc();
  return process.platform === 'win32' ? [] : fromPs();
}

async function fromProc(): Promise<readonly ProcessLine[]> {
  // Without /proc nothing can be seen, but then no holder counts as gone either: its lease has to run out.
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      // Empty: a process of the kernel, one that has ended and waits for its parent, or one that ended just now.
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (text === '') return { pid: Number(pid), args: [] };
      const { uid } = (await stat(`/proc/${pid}`).catch(() => undefined)) ?? {};
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      const kubeconfig = /(?:^|\0)KUBECONFIG=([^\0]*)/.exec(environment)?.[1];
      return {
        pid: Number(pid),
        args: text.split('\0'),
        ...(uid === undefined ? {} : { uid }),
        ...(kubeconfig === undefined ? {} : { kubeconfig }),
      };
    }),
  );
  return lines.filter(({ args }) => args.length > 1);
}

/** Arguments with blanks come apart here; the last part of ours, the file's name, has none. */
async function fromPs(): Promise<readonly ProcessLine[]> {
  const { PATH = '/usr/bin:/bin' } = process.env;
  const ps = await programFile('ps', { PATH });
  const { stdout } = await runProgram(ps, ['-axww', '-o', 'pid=,uid=,args='], { env: { PATH }, timeoutMs: 10_000 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, uid, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), uid: Number(uid), args: args.split(' ') }];
  });
}

const POLL_MS = 500;
/** A program that hangs needs the user: waiting longer would only hide it. */
const PATIENCE_MS = 120_000;

interface AwaitOrphans {
  readonly orphans: () => Promise<readonly Orphan[]>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly say: (text: string) => void;
  /** Ctrl-C ends the wait. */
  readonly stop: AbortSignal;
}

/** Resolves when no ended run's program can write, to whether one could. Throws Fault('locked') if that takes too long, Fault('interrupted') at Ctrl-C. */
export async function awaitOrphans({ orphans, clock, say, stop }: AwaitOrphans): Promise<boolean> {
  for (let waited = 0; ; waited += POLL_MS) {
    const left = await orphans();
    if (left.length === 0) return waited > 0;
    const names = left.map(({ pid, program }) => `${program} (process ${pid})`).join(', ');
    if (waited >= PATIENCE_MS) throw stillThere(names, left);
    if (waited === 0)
      say(`waiting for ${names}: a run that does not hold the lock any more has started it, and it may still write to this cluster`);
    await clock.sleep(POLL_MS, stop).catch((thrown: unknown) => {
      if (!stop.aborted) throw thrown;
    });
    if (stop.aborted) throw new Fault('interrupted', `stopped while waiting for ${names}`, [AGAIN]);
  }
}

function stillThere(names: string, left: readonly Orphan[]): Fault {
  const fact = `${names}, started by a run that does not hold the lock any more, has not ended for ${PATIENCE_MS / 1000} s and may still write to this cluster`;
  return new Fault('locked', fact, [`end it with: kill ${left.map(({ pid }) => pid).join(' ')}`, thenAgainAs('what is done stays done')]);
}
