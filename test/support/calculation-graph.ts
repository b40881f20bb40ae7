import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../control-plane/until.ts';
import { patient } from './patience.ts';

/** One lane as the real agents have it. */
export interface RealLane {
  /** `TIER:KIND/NAMESPACE/NAME` in order. */
  readonly pols: readonly string[];
  /** Rules of these in order, with the members of their sets; then `endtier TIER ACTION`. */
  readonly rules?: readonly string[];
}

export interface RealHost {
  readonly node: string;
  /** Name of the all-interfaces endpoint in force, or nothing. */
  readonly effective: string;
  readonly all: readonly string[];
  readonly ingress?: RealLane;
  readonly egress?: RealLane;
  readonly 'fwd-ingress'?: RealLane;
  readonly 'fwd-egress'?: RealLane;
  readonly prednat?: RealLane;
  readonly 'untracked-in'?: RealLane;
  /** With their rules. */
  readonly profiles?: readonly string[];
  /** Of pods on this node by `NAMESPACE/NAME`, where the program tells. */
  readonly workloads?: Readonly<Record<string, Readonly<Record<'ingress' | 'egress', RealLane>>>>;
  /** Rules of all policies in force on the node by `KIND/NAMESPACE/NAME`, where the program tells. */
  readonly policies?: Readonly<Record<string, Readonly<Record<'in' | 'out', readonly string[]>>>>;
}

export type CalculationGraphs = Awaited<ReturnType<typeof startCalculationGraphs>>;

/** The real agents' syncer and calculation graph, one per node, without a data plane: what would be enforced on each host. */
export async function startCalculationGraphs(program: string, kubeconfig: string, nodes: readonly string[], file: string) {
  const env = { PATH: process.env.PATH, DATASTORE_TYPE: 'kubernetes', KUBECONFIG: kubeconfig };
  const child = spawn(program, ['-nodes', nodes.join(','), '-out', file], { env, stdio: 'ignore' });
  await once(child, 'spawn');
  // Until it is in sync a signal would end it.
  await until('the calculation graph is in sync', async () => (await readFile(file, 'utf8').catch(() => '')) !== '', 60_000);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  async function snapshot(): Promise<string | undefined> {
    if (hasEnded()) throw new Error(`the calculation graph ended with ${child.exitCode}`);
    await rm(`${file}.snap`, { force: true });
    child.kill('SIGUSR1');
    for (let tries = 0; tries < 100; tries += 1) {
      const text = await readFile(`${file}.snap`, 'utf8').catch(() => undefined);
      if (text !== undefined) return text;
      await pause(10);
    }
    return undefined;
  }
  return {
    /** What each host has once the last of these endpoints is seen and nothing has changed for a while. */
    async settled(marker: string, gone: readonly string[] = [], limitMs = 30_000): Promise<ReadonlyMap<string, RealHost>> {
      const deadline = Date.now() + patient(limitMs);
      let [before, same] = ['', 0];
      for (;;) {
        const text = await snapshot();
        const hosts = text === undefined ? [] : (JSON.parse(text) as readonly RealHost[]);
        const names = new Set(hosts.flatMap(({ all }) => all.map((one) => one.replace(/\[.*/, ''))));
        same = names.has(marker) && !gone.some((name) => names.has(name)) && text === before ? same + 1 : 0;
        if (same >= 3) return new Map(hosts.map((one) => [one.node, one]));
        if (Date.now() > deadline) throw new Error(`the calculation graph has not seen ${marker}: ${[...names].join(' ')}`);
        before = text ?? '';
        await pause(60);
      }
    },
    async stop(): Promise<void> {
      if (hasEnded()) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
