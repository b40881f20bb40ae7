import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { type Answer, plainLines, runInTerminal } from '../../build/in-terminal.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { installedSandbox } from './sandbox-ports.ts';
import { serveSandbox } from './served-sandbox.ts';
import { openKubeconfig } from './traced-process.ts';
import { program } from './upgrade-process.ts';

/** A cluster in memory behind HTTP, for commands that only look, and the surroundings of a process that asks it. */
export interface SeenCluster {
  readonly scenario: Scenario;
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface Sight {
  /** 80 unless said. */
  readonly columns?: number;
  readonly rows?: number;
  /** Added to the environment: `NO_COLOR`, `TERM`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly answers?: readonly Answer[];
}

export interface Seen {
  readonly exit: number | null;
  /** All lines at the end, those that scrolled out of sight too. */
  readonly text: string;
  /** What is on the screen at the end. */
  readonly screen: string;
  /** Each complete picture of the live view. */
  readonly frames: readonly string[];
  /** Lines that had no room in one row, whole. */
  readonly tooLong: readonly string[];
  /** All codes of its looks: empty without colour. */
  readonly styles: readonly string[];
}

/** Of the same length on every machine: where a screen breaks a line hangs on it. */
const FOLDER = '/tmp/netsvc-pty-';

/** Starts a cluster that commands of the built program may look at; two nodes unless said. Its kubectl knows its own version, and nothing else. */
export async function seenCluster(nodes = 2, prepare: (scenario: Scenario) => void = () => undefined): Promise<SeenCluster> {
  const scenario = await installedSandbox({ nodes });
  prepare(scenario);
  const server = await serveSandbox(scenario.cluster);
  const folder = mkdtempSync(FOLDER);
  writeFileSync(join(folder, 'config'), openKubeconfig(server.url));
  writeFileSync(join(folder, 'kubectl'), `#!/bin/sh\necho '{"clientVersion":{"major":"1","minor":"36","gitVersion":"v1.36.1"}}'\n`);
  chmodSync(join(folder, 'kubectl'), 0o755);
  return {
    scenario,
    url: server.url,
    env: { ...emptyEnv(folder, [folder]), KUBECONFIG: join(folder, 'config') },
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the built program in a pseudo-terminal. Without a cluster it has a HOME of its own, and no kubeconfig. */
export async function inPty(args: readonly string[], sight: Sight = {}, cluster?: SeenCluster): Promise<Seen> {
  return atHome(cluster, async (home) => {
    const { columns = 80, rows = 24, answers = [] } = sight;
    const env = { ...home, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...sight.env };
    const { exit, end, frames, tooLong } = await runInTerminal([program, ...args], { columns, rows, env, answers });
    const text = (lines: typeof end) =>
      plainLines(lines)
        .map((line) => line.trimEnd())
        .join('\n');
    return {
      exit,
      text: text(end),
      screen: text(end.slice(-rows)),
      frames: frames.map(text),
      tooLong,
      styles: [...new Set(end.flat().flatMap(({ styles }) => styles))],
    };
  });
}

/** Runs the built program with its output in pipes: stdout and stderr apart. */
export async function inPipe(args: readonly string[], cluster?: SeenCluster, env: Sight['env'] = {}) {
  return atHome(cluster, async (home) => {
    const around = {
      extendEnv: false,
      env: { ...home, LANG: 'C.UTF-8', ...env },
      stdin: 'ignore',
      reject: false,
      timeout: 120_000,
    } as const;
    const { exitCode, stdout, stderr } = await execa(program, args, around);
    return { exit: exitCode, stdout, stderr };
  });
}

/** Without what differs from run to run: the port of the cluster. */
export function steadied(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT');
}

async function atHome<T>(cluster: SeenCluster | undefined, work: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
  if (cluster) return work(cluster.env);
  const folder = mkdtempSync(FOLDER);
  try {
    return await work(emptyEnv(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing of the person who runs the tests is read or written. */
function emptyEnv(home: string, programs: readonly string[] = []): Readonly<Record<string, string>> {
  const path = [...programs, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  return { PATH: path, HOME: home, XDG_STATE_HOME: home };
}
