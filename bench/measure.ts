import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** A command as a whole process. */
export interface Command {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that count as a good run; only 0 unless said. */
  readonly expect?: readonly number[];
  /** What it must print: of two that do not find the same, neither is faster. Not looked at unless said. */
  readonly prints?: string;
}

export interface Sample {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMiB: number;
}

export interface Figures {
  readonly name: string;
  readonly median: Sample;
  readonly runs: number;
}

/** bash's own `times` after the command would miss peak memory: GNU time's format is asked of the kernel by this wrapper. */
const WRAPPER = `
import os, resource, sys, time
start = time.monotonic()
pid = os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
wall = time.monotonic() - start
open(sys.argv[1], 'w').write(f'{wall*1000} {(usage.ru_utime+usage.ru_stime)*1000} {usage.ru_maxrss/1024} {os.waitstatus_to_exitcode(status)}')
`;

/** One run of a command, measured by the kernel (wait4): wall time, CPU time of all its threads, peak resident memory. */
export async function sample(command: Command): Promise<Sample> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const file = join(folder, 'figures');
    const { stdout } = await execa('python3', ['-c', WRAPPER, file, command.program, ...command.args], {
      env: { ...command.env },
      stdin: 'ignore',
      stdout: command.prints === undefined ? 'ignore' : 'pipe',
      stderr: 'ignore',
    });
    const [wallMs = 0, cpuMs = 0, peakMiB = 0, code = 1] = (await readFile(file, 'utf8')).split(' ').map(Number);
    if (!(command.expect ?? [0]).includes(code))
      throw new Error(`${command.name} ended with exit code ${code}: ${[command.program, ...command.args].join(' ')}`);
    if (command.prints !== undefined && stdout !== command.prints)
      throw new Error(`${command.name} prints "${stdout}", not "${command.prints}"`);
    return { wallMs, cpuMs, peakMiB };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the commands in turns, so that a noisy moment hits all of them alike; medians after two rounds of warm-up. `before` each of them puts
 * a server back where all of them find it.
 */
export async function interleave(
  commands: readonly Command[],
  rounds: number,
  before?: () => Promise<unknown>,
): Promise<readonly Figures[]> {
  const samples = new Map<string, Sample[]>(commands.map((command) => [command.name, []]));
  for (let round = -2; round < rounds; round += 1) {
    for (const command of commands) {
      await before?.();
      const one = await sample(command);
      if (round >= 0) samples.get(command.name)?.push(one);
    }
  }
  return [...samples].map(([name, list]) => ({ name, runs: list.length, median: medianOf(list) }));
}

/** Of each figure by itself. */
export function medianOf(samples: readonly Sample[]): Sample {
  const middle = (pick: (one: Sample) => number) => [...samples].map(pick).sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
  return { wallMs: middle((one) => one.wallMs), cpuMs: middle((one) => one.cpuMs), peakMiB: middle((one) => one.peakMiB) };
}

export interface Section {
  readonly title: string;
  readonly aim: string;
  readonly lines: readonly string[];
}

/** A table of figures with their ratio to the first, the yardstick of the same run. */
export function ratioTable(figures: readonly Figures[]): readonly string[] {
  const [yardstick] = figures;
  if (!yardstick) return [];
  const rows = figures.map(({ name, median, runs }) => {
    const ratio = (value: number, to: number) => `${(value / to).toFixed(2)}×`;
    return `| ${name} | ${median.wallMs.toFixed(0)} | ${ratio(median.wallMs, yardstick.median.wallMs)} | ${median.cpuMs.toFixed(0)} | ${ratio(median.cpuMs, yardstick.median.cpuMs)} | ${median.peakMiB.toFixed(0)} | ${runs} |`;
  });
  return ['| command | wall ms | wall | CPU ms | CPU | peak MiB | runs |', '|---|---|---|---|---|---|---|', ...rows];
}

export function machineText(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${process.platform}/${process.arch}`;
}
