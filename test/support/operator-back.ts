import assert from 'node:assert/strict';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { chains, usualChain } from '../../src/features/chain.ts';
import type { Observer } from '../../src/kernel/event.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import { type HeldFleet, heldFleet } from './held-fleet.ts';
import { assertDone, badLine, faultyCluster, type LineFault } from './owner-faults.ts';
import { playOperators } from './played-operators.ts';
import { contextIn, type Flags, sandboxPorts } from './sandbox-ports.ts';
import { CALICO_TARGET } from './target.ts';

export const FROM = 'v3.31.7';
/** No agent here writes the release into ClusterInformation, and nothing has the definitions of the old one. */
const COMMON: Flags = { skip: ['cli'], yes: true, accept: ['NS-301', 'NS-765'] };

interface Process {
  readonly fault?: LineFault;
  /** Unless the fleet's own. */
  readonly profile?: Profile;
  readonly stages?: readonly AnyStage[];
  readonly flags?: Flags;
  readonly observe?: Observer;
  /** What its requests go through. */
  readonly guard?: (cluster: Cluster) => Cluster;
}

interface Ended {
  /** Absent: it was killed. */
  readonly outcome?: ChainOutcome;
  readonly requests: readonly string[];
}

/** An installation by the operator of v3.31.7. */
export const sourceFleet = (nodes: number): Promise<HeldFleet> => heldFleet(nodes, 'operator v3.31.7', playOperators);

/** One that the upgrade has brought to the target. */
export async function upgradedFleet(nodes: number): Promise<HeldFleet> {
  const fleet = await sourceFleet(nodes);
  const { outcome } = await forward(fleet);
  assertDone(outcome, 'the upgrade');
  assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []]);
  return fleet;
}

/** A new process upgrades. */
export function forward(fleet: HeldFleet, process: Process = {}): Promise<Ended> {
  return perform(fleet, process.stages ?? usualChain, { ...COMMON, ...process.flags }, process);
}

/** A new process takes the recorded upgrade back. */
export async function back(fleet: HeldFleet, process: Process = {}): Promise<Ended> {
  const { scenario, profile } = fleet;
  const { records } = sandboxPorts(scenario);
  const goal = await goalBack(records, { clusterUid: scenario.clusterUid, profile, readRecord: (content) => content as RunRecord });
  return perform(fleet, process.stages ?? chains.rollback, { ...COMMON, ...process.flags }, process, goal);
}

async function perform(
  { scenario, profile: own }: HeldFleet,
  stages: readonly AnyStage[],
  flags: Flags,
  { fault, profile = own, observe = () => undefined, guard = (cluster) => cluster }: Process,
  goal?: Awaited<ReturnType<typeof goalBack>>,
): Promise<Ended> {
  // Nobody starts the next process in the same second.
  await scenario.clock.sleep(10_000);
  const ports = sandboxPorts(scenario);
  const line = badLine(scenario, fault);
  const { cluster } = faultyCluster(scenario.cluster, scenario, { lists: new Map(), line });
  const bad = { ...ports, cluster: guard(cluster), tools: faultyTools(ports.tools, line), records: faultyRecords(ports.records, line) };
  const context = contextIn(scenario, { release: CALICO_TARGET, ...flags }, profile);
  const asked = goal ? { ...context, goal, intent: { kind: 'rollback' } as const } : context;
  const outcome = await runChain(stages, bad, asked, observe, { leavesRun: 'NS-012' }).catch((thrown: unknown) => {
    if (scenario.cluster.faults.killed) return undefined;
    throw thrown;
  });
  return { ...(outcome ? { outcome } : {}), requests: line.requests };
}
