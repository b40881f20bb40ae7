import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { EXIT } from '../../src/kernel/fault.ts';
import type { GroundSweep } from './describe-sweep.ts';
import { differences, type EndState } from './end-state.ts';
import { armed, type FaultPoint, pointText } from './fault-points.ts';
import { type InstallRequest, within } from './installed-cluster.ts';
import { type ProxiedCluster, type ProxiedRun, proxiedCluster } from './proxied-cluster.ts';
import { manifestFile, ownReleases, releases } from './releases.ts';
import { CALICO_TARGET, NETSVC_TARGET } from './target.ts';
import { told } from './upgrade-process.ts';

/** What is swept: an installation, and the command that upgrades it. */
interface Swept {
  readonly install: InstallRequest;
  readonly command: readonly string[];
  /** Release that was installed: the backup must be of it. */
  readonly source: string;
  /** What must hold after the fault, before anything is run again. */
  readonly between?: (ground: ProxiedCluster, where: string) => Promise<void>;
}

/** A process that is really killed, the same command again, and a cluster of its own for each fault. */
const upgradeSweep = (what: string, swept: Swept): GroundSweep => ({
  what,
  keeps: 'ends as the clean run does',
  async open() {
    const { requests, endState } = await cleanRun(swept);
    return { clean: requests, sweep: (point) => sweepPoint(swept, point, endState) };
  },
});

/** One undisturbed run, which must succeed, on a cluster of its own. */
async function cleanRun(swept: Swept) {
  return within(proxiedCluster(swept.install), async (ground) => {
    const run = await ground.run(swept.command);
    assert.equal(run.exitCode, 0, told(run));
    assert.ok(
      run.requests.some(({ userAgent }) => userAgent.startsWith('kubectl/')),
      'kubectl reaches the proxy',
    );
    await assertBackup(ground, swept);
    return { requests: run.requests, endState: await ground.endState() };
  });
}

/**
 * A run that meets the fault, then the same command again: the same end as the clean run's, on a cluster of its own.
 * Resolves to false if the run did not send so many requests: a slow clean run renews its lock and looks again more often.
 */
async function sweepPoint(swept: Swept, point: FaultPoint, clean: EndState): Promise<boolean> {
  return within(proxiedCluster(swept.install), async (ground) => {
    ground.proxy.arm(armed(point, ground.kill));
    const spoilt = await ground.run(swept.command);
    const struck = ground.proxy.disarm();
    const where = `${pointText(point)}: ${struck ? `${struck.method} ${struck.path}` : 'never reached'}`;
    if (struck) assertEnding(point, spoilt, where);
    await swept.between?.(ground, where);
    const again = await ground.run(swept.command);
    const both = `${where}\nfirst: ${told(spoilt)}\nthen: ${told(again)}`;
    assert.equal(again.exitCode, 0, both);
    const different = differences(clean, await ground.endState()).join('\n');
    assert.equal(different, '', `${different}\n${both}`);
    await assertBackup(ground, swept);
    return struck !== undefined;
  });
}

/** How a process ended, by itself or by SIGKILL. */
export type EndedRun = Pick<ProxiedRun, 'exitCode' | 'stdout' | 'stderr' | 'killed'>;

const STACK = /^\s+at .*[:/].*\d+:\d+\)?$/m;

/** A killed process says nothing; any other ends with a documented code, and on a failure with words for a person. */
export function assertEnding({ kind }: FaultPoint, run: EndedRun, where: string): void {
  const text = `${where}\n${told(run)}`;
  if (kind.startsWith('kill-')) {
    assert.ok(run.killed, text);
    return;
  }
  assert.ok(endingsOf(kind).includes(run.exitCode ?? -1), text);
  assert.doesNotMatch(run.stderr + run.stdout, STACK, text);
  if (run.exitCode !== 0) assert.match(run.stderr, /^error: /m, text);
}

/** 429, an outdated answer and a watch that ends are everyday things of a cluster: a run lives through them. */
function endingsOf(kind: FaultPoint['kind']): readonly number[] {
  if (kind === 'too-many-requests' || kind === 'gone' || kind === 'stale') return [EXIT.done];
  return [EXIT.done, EXIT.failed, EXIT.blocked, EXIT.locked, EXIT.timeout];
}

async function assertBackup(ground: ProxiedCluster, { source }: Swept): Promise<void> {
  assert.ok((await ground.backup()).includes(`:${source}`), `the backup is of ${source}`);
}

const RUN = ['run', '--yes', '--skip', 'cli', '--timeout', '60s'] as const;

/** The document's names, our own small manifests. */
export const NETSVC_SWEPT = upgradeSweep("procedure C upgrades the document's names", {
  install: { manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 },
  command: [...RUN, '--manifest-url', ownReleases],
  source: 'v3.26.4',
});

/** While the DaemonSet is held, no agent is new but that of the canary, however long one waits. */
async function onlyCanaryIsNew(
  {
    cluster: {
      plane: { api },
    },
  }: ProxiedCluster,
  where: string,
): Promise<void> {
  const strategy = async () => {
    const { spec } = await api.get<{ readonly spec: { readonly updateStrategy?: { readonly type?: string } } }>(AGENTS);
    return spec.updateStrategy?.type;
  };
  if ((await strategy()) !== 'OnDelete') return;
  await setTimeout(HELD_MS);
  const { items } = await api.get<{ readonly items: readonly AgentPod[] }>(
    '/api/v1/namespaces/kube-system/pods?labelSelector=k8s-app%3Dnetsvc-node',
  );
  const fresh = items.filter(({ spec }) => spec.containers.some(({ image }) => image.endsWith(`:${NETSVC_TARGET}`)));
  const others = fresh.map(({ spec }) => spec.nodeName).filter((node) => node !== CANARY);
  assert.deepEqual(others, [], `${where}: agents that nobody chose are new`);
}

interface AgentPod {
  readonly spec: { readonly nodeName: string; readonly containers: readonly { readonly image: string }[] };
}

const AGENTS = '/apis/apps/v1/namespaces/kube-system/daemonsets/netsvc-node';
const CANARY = 'node-02';
/** The controller needs a fraction of it for the next agent. */
const HELD_MS = 3_000;

/** A canary on the same ground. */
export const CANARY_SWEPT = upgradeSweep('an upgrade begins with a canary', {
  install: { manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 3 },
  command: [...RUN, '--manifest-url', ownReleases, '--canary', CANARY, '--soak', '2s'],
  source: 'v3.26.4',
  between: onlyCanaryIsNew,
});

/** Published manifests, with Typha. */
export const TYPHA_SWEPT = upgradeSweep('procedure C upgrades published manifests with Typha', {
  install: { manifest: manifestFile('v3.27.5', 'calico-typha.yaml'), nodes: 2 },
  command: [...RUN, '--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases],
  source: 'v3.27.5',
});
