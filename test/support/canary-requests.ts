import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { allNodes, newOn, strategy, waved } from './canary-sandbox.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import { type BadLine, badLine, faultyCluster, isRead } from './owner-faults.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from './sandbox-ports.ts';

/** How a canary goes: its agent becomes ready, or it crashes again and again. */
export const STORIES = ['goes well', 'fails'] as const;
type Story = (typeof STORIES)[number];

const CANARY = 'node-02';
const SOAK_MS = 60_000;
const FLAGS: Readonly<Record<Story, Flags>> = {
  'goes well': { canary: CANARY, soak: '1m' },
  fails: { canary: CANARY, soak: '1m', timeout: '2m' },
};
const HELD = { type: 'OnDelete' };
const OWN = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
/** A controller that may replace an agent has done so by then. */
const LATER_MS = 600_000;

/** Where the process is killed: at one of its requests, or at one of kubectl's writes. */
export interface KillPoint {
  readonly among: 'requests' | 'writes';
  readonly at: number;
  readonly kill: 'before' | 'after';
  readonly what: string;
}

/** Every place where a run of this story can be killed. What only reads and is killed after its answer is killed before the next request. */
export async function killPoints(story: Story): Promise<readonly KillPoint[]> {
  const ground = await opened(story);
  const line = badLine(ground.scenario);
  await ground.run(line);
  const kills = (what: string) => (isRead(what) ? (['before'] as const) : (['before', 'after'] as const));
  const { writes } = ground.scenario.cluster.faults;
  return [
    ...line.requests.flatMap((what, index) => kills(what).map((kill) => ({ among: 'requests', at: index + 1, kill, what }) as const)),
    ...Array.from({ length: writes }, (_, index) => index + 1).flatMap((at) =>
      kills('a write').map((kill) => ({ among: 'writes', at, kill, what: 'a write' }) as const),
    ),
  ];
}

/** Killed there, left alone for long, then run again: at no moment an agent is new that this run did not choose, and the end is the same. */
export async function killedThere(story: Story, point: KillPoint): Promise<void> {
  const { scenario, run, replaced } = await opened(story);
  const { faults } = scenario.cluster;
  const where = `${story}, killed ${point.kill} number ${point.at} of the ${point.among}: ${point.what}`;
  const fault = { at: point.at, type: `kill-${point.kill}` } as const;
  if (point.among === 'writes') faults.plan({ at: point.at, kill: point.kill });
  await run(badLine(scenario, point.among === 'requests' ? fault : undefined)).catch(() => undefined);
  faults.plan();
  await scenario.clock.sleep(LATER_MS);
  const outcome = await run(badLine(scenario));
  await scenario.clock.sleep(LATER_MS);
  if (story === 'fails') {
    assert.deepEqual([outcome.exit, newOn(scenario), strategy(scenario)], ['stopped', [CANARY], HELD], `${where}: ${outcome.message}`);
    return;
  }
  assert.deepEqual(
    [outcome.exit, outcome.message, newOn(scenario), strategy(scenario)],
    ['done', undefined, allNodes(scenario), OWN],
    where,
  );
  const [first, ...others] = replaced;
  assert.equal(first?.node, CANARY, where);
  // A resumed run watches it for the whole time again.
  const early = others.filter(({ at, begun }) => at - Math.max(first.at, begun) < SOAK_MS);
  assert.deepEqual(early, [], `${where}: replaced before the canary had been watched`);
}

async function opened(story: Story) {
  const scenario = await installedSandbox({ nodes: 3 });
  if (story === 'fails') scenario.cluster.nodes.fault(CANARY, 'crash-loop');
  const replaced: { readonly node: string; readonly at: number; readonly begun: number }[] = [];
  const now = () => scenario.clock.now().getTime();
  let begun = now();
  scenario.cluster.store.listen(({ kind }) => {
    if (kind.plural !== K.Pod.plural) return;
    for (const node of newOn(scenario)) if (!replaced.some((one) => one.node === node)) replaced.push({ node, at: now(), begun });
  });
  const lists = new Map();
  return {
    ...{ scenario, replaced },
    /** A new process, over this line. */
    run(line: BadLine): Promise<ChainOutcome> {
      begun = now();
      const ports = sandboxPorts(scenario);
      const { cluster } = faultyCluster(ports.cluster, scenario, { lists, line });
      const bad = { ...ports, cluster, tools: faultyTools(ports.tools, line), records: faultyRecords(ports.records, line) };
      return performIn(scenario, [applyStage], FLAGS[story], { profile: waved, ports: bad });
    },
  };
}
