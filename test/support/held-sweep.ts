import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import { heldFleet } from './held-fleet.ts';
import type { Ground } from './incident-grounds.ts';
import { badLine, faultyCluster, isRead, type LineFault } from './owner-faults.ts';
import { type Flags, performIn, sandboxPorts } from './sandbox-ports.ts';
import { CALICO_TARGET } from './target.ts';

/** Enough that Typha is held for a while. */
const NODES = 3;
// No agent here writes the release into ClusterInformation.
export const FLAGS: Flags = { release: CALICO_TARGET, skip: ['cli'], yes: true, accept: ['NS-301'] };

/** `apply` and what follows, as one process asks for it; `fault` strikes one of its requests. */
export async function struckRun({ scenario, profile }: Ground, fault?: LineFault, flags: Flags = {}) {
  const ports = sandboxPorts(scenario);
  const line = badLine(scenario, fault);
  const { cluster } = faultyCluster(scenario.cluster, scenario, { lists: new Map(), line });
  const bad = { ...ports, cluster, tools: faultyTools(ports.tools, line), records: faultyRecords(ports.records, line) };
  const stages = usualChain.filter(({ id }) => id !== 'preflight');
  const outcome = await performIn(scenario, stages, { ...FLAGS, ...flags }, { profile, ports: bad }).catch(() => undefined);
  return { outcome, requests: line.requests };
}

/** Every request from the hold to the end of the run, at which a process can be killed. */
export async function heldPoints(): Promise<readonly (LineFault & { readonly what: string })[]> {
  const { requests } = await struckRun(await heldFleet(NODES));
  const first = requests.indexOf('patch deployments/calico-typha');
  assert.ok(first > 0, 'Typha was held');
  return requests.flatMap((what, index) => {
    if (index < first - 3) return [];
    const types = isRead(what) ? (['kill-before'] as const) : (['kill-before', 'kill-after'] as const);
    return types.map((type) => ({ at: index + 1, type, what }));
  });
}

/** Killed there, and run again: no annotation is left, and no more agents were away than may be. */
export async function heldTrial(point: LineFault): Promise<void> {
  const fleet = await heldFleet(NODES);
  const { requests } = await struckRun(fleet, point);
  const what = `${point.type} ${point.at}: ${requests.at(-1)}`;
  const { outcome } = await struckRun(fleet);
  const open = outcome?.findings.filter((one) => one.outcome === 'error').map(({ id, message }) => `${id} ${message}`);
  assert.deepEqual([outcome?.exit, outcome?.message, open], ['done', undefined, []], what);
  assert.deepEqual([fleet.runs(), fleet.marks()], [[CALICO_TARGET], []], what);
  assert.ok(fleet.worst() <= 1, `${fleet.worst()}: ${what}`);
}
