import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import { until } from '../control-plane/until.ts';
import { readEndState } from './end-state.ts';
import { type InstalledCluster, type InstallRequest, installedCluster, opened } from './installed-cluster.ts';
import { patient } from './patience.ts';
import { startUpgrade, type UpgradeProcess } from './upgrade-process.ts';
import { writesPastProxy, writesTooEarly } from './write-order.ts';

/** What one process did, and what of it reached the proxy. */
export interface ProxiedRun extends UpgradeProcess {
  /** Ended with SIGKILL. */
  readonly killed: boolean;
  readonly requests: readonly LoggedRequest[];
}

/** More than any run needs, faults and pauses included; milliseconds. */
const RUN_LIMIT_MS = 120_000;

export type ProxiedCluster = Awaited<ReturnType<typeof proxiedCluster>>;

/** A cluster with a release on it that the program reaches only through a fault proxy. */
export function proxiedCluster(request: InstallRequest) {
  return opened(async (endBy) => {
    const cluster = await installedCluster({ ...request, audit: true, maxMinutes: 10 });
    endBy(cluster.stop);
    const { plane, around } = cluster;
    const proxy = await startFaultProxy({ behind: plane.access, kubeconfigPath: join(plane.dir, 'proxy.kubeconfig'), maxMinutes: 10 });
    endBy(proxy.stop);
    let running: ReturnType<typeof startUpgrade> | undefined;
    return {
      ...{ cluster, proxy },
      /** Ends the process that runs now and what it started, as a machine's death does. */
      kill: () => void (running?.pid !== undefined && killWithChildren(running.pid)),
      /** Runs the program to its end; asserts that it wrote in the right order, and nothing past the proxy. */
      async run(args: readonly string[]): Promise<ProxiedRun> {
        const from = proxy.requests.length;
        const audited = (await readFile(plane.auditLog, 'utf8')).length;
        running = startUpgrade(args, { ...around, kubeconfig: proxy.kubeconfigPath }, RUN_LIMIT_MS);
        const { exitCode, stdout, stderr, signal, timedOut } = await running;
        assert.ok(!timedOut, `no end within ${patient(RUN_LIMIT_MS) / 1000} s\n${stderr}`);
        const requests = proxy.requests.slice(from);
        await assertOrder(cluster, proxy, { requests, audited });
        return { exitCode, stdout, stderr, killed: signal === 'SIGKILL', requests };
      },
      endState: () => readEndState(plane.api),
      /** Text of the backup that the run record names; empty if there is none. */
      backup: () => backupOf(cluster),
    };
  });
}

/** A tool outlives the program that started it, and would go on to write: it is ended as well. */
export function killWithChildren(pid: number): void {
  const { stdout } = execaSync('ps', ['-A', '-o', 'pid=,ppid=']);
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const children = pairs.filter(([, parent]) => parent === pid).flatMap(([child = 0]) => child);
  for (const one of [pid, ...children]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

interface Written {
  readonly requests: readonly LoggedRequest[];
  /** Length of the audit log that the server had before. */
  readonly audited: number;
}

/** The first write is the lock, then the record; every write of the audit log is one of the proxy's. */
async function assertOrder(cluster: InstalledCluster, proxy: FaultProxy, { requests, audited }: Written): Promise<void> {
  assert.deepEqual(writesTooEarly(requests), []);
  const done = requests.filter(({ purpose, serverStatus = 0 }) => purpose === 'write' && serverStatus >= 200 && serverStatus <= 299);
  const log = async () => (await readFile(cluster.plane.auditLog, 'utf8')).slice(audited);
  await until('the audit log has every write', async () => {
    const text = await log();
    return done.every((one) => text.includes(proxy.auditId(one)));
  });
  // What was on its way when the process was killed is answered, and told by the proxy, a moment later.
  // The log may tell of it only once the next run has begun.
  const past = async () => writesPastProxy(await log(), new Set(proxy.requests.map(proxy.auditId)));
  await until('the proxy has told of every write', async () => (await past()).length === 0, 10_000).catch(() => undefined);
  assert.deepEqual(await past(), []);
}

async function backupOf(cluster: InstalledCluster): Promise<string> {
  const record = await cluster.read('secret -n kube-system netsvc-upgrade-run', '{.data.record\\.json}');
  const { backup } = JSON.parse(Buffer.from(record, 'base64').toString()) as { readonly backup?: string };
  if (backup === undefined) return '';
  const entries = await readdir(backup, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
}
