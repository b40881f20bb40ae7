import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type Answer, plainLines, runInTerminal } from '../../build/in-terminal.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { installedSandbox } from './sandbox-ports.ts';
import { serveSandbox } from './served-sandbox.ts';
import { putKubectl } from './stand-in-kubectl.ts';
import { openKubeconfig } from './traced-process.ts';
import { program, startProgram } from './upgrade-process.ts';

interface Sight {
  /** 80 unless said. */
  readonly columns?: number;
  readonly rows?: number;
  /** Added to the environment: `NO_COLOR`, `TERM`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly answers?: readonly Answer[];
}

/** Of the same length on every machine: where a screen breaks a line hangs on it. */
const FOLDER = '/tmp/netsvc-pty-';

export type SeenCluster = Awaited<ReturnType<typeof seenCluster>>;

/** A cluster in memory behind HTTP that commands of the built program may look at. Its kubectl knows the kubeconfig and its own version, and nothing else. */
export async function seenCluster(nodes = 2, prepare: (scenario: Scenario) => void = () => undefined) {
  const scenario = await installedSandbox({ nodes });
  prepare(scenario);
  const server = await serveSandbox(scenario.cluster);
  const folder = mkdtempSync(FOLDER);
  writeFileSync(join(folder, 'config'), openKubeconfig(server.url));
  putKubectl(folder);
  return {
    env: { ...emptyEnv(folder, [folder]), KUBECONFIG: join(folder, 'config') },
    async close(): Promise<void> {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Runs the built program in a pseudo-terminal; without a cluster it has a HOME of its own, and no kubeconfig. `text` has the lines that
 * scrolled out of sight too, `frames` are the complete pictures of the live view, and lines in `tooLong` had no room in one row.
 */
export async function inPty(args: readonly string[], sight: Sight = {}, cluster?: SeenCluster) {
  return atHome(cluster, async (home) => {
    const { columns = 80, rows = 24, answers = [] } = sight;
    const env = { ...home, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...sight.env };
    const { exit, end, frames, tooLong } = await runInTerminal([program, ...args], { columns, rows, env, answers });
    const text = (lines: typeof end) =>
      plainLines(lines)
        .map((line) => line.trimEnd())
        .join('\n');
    /** All codes of its looks: empty without colour. */
    const styles = [...new Set(end.flat().flatMap((run) => run.styles))];
    return { exit, text: text(end), screen: text(end.slice(-rows)), frames: frames.map(text), tooLong, styles };
  });
}

/** Runs the built program with its output in pipes: stdout and stderr apart. */
export async function inPipe(args: readonly string[], cluster?: SeenCluster) {
  return atHome(cluster, async (home) => {
    const { exitCode, stdout, stderr } = await startProgram(args, { ...home, LANG: 'C.UTF-8' });
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
