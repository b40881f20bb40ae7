import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { isPodReady, isStopping, nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { AGENTS, newOn, strategy, waved } from '../support/canary-sandbox.ts';
import { type Flags, installedSandbox, performIn } from '../support/sandbox-ports.ts';

const NODES = 1000;
const AT_ONCE = 3;
const ZONE = 'topology.kubernetes.io/zone';
const ZONES = ['a', 'b', 'c'];
const zoneOf = (number: number): string => ZONES[number % ZONES.length] ?? '';
const nameOf = (number: number): string => `node-${String(number).padStart(4, '0')}`;

/** One node and its agent again and again: installed one by one they would take minutes. */
async function fleet(): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes: 1, cli: false });
  const { store } = scenario.cluster;
  const [node] = store.list(K.Node);
  const agent = store.list(K.Pod).find(({ metadata }) => metadata.name.startsWith(AGENTS.name));
  assert.ok(node && agent);
  const bare = ({ metadata: { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } }: KubeObject) => metadata;
  for (let number = 2; number <= NODES; number += 1) {
    const name = nameOf(number);
    const labels = { ...node.metadata.labels, 'kubernetes.io/hostname': name, [ZONE]: zoneOf(number) };
    store.insert(K.Node, { ...node, metadata: { ...bare(node), name, labels } });
    const metadata = { ...bare(agent), name: `${AGENTS.name}-x${number}` };
    store.insert(K.Pod, { ...agent, metadata, spec: { ...(agent.spec as object), nodeName: name } } as KubeObject);
  }
  store.update(K.Node, { ...node, metadata: { ...node.metadata, labels: { ...node.metadata.labels, [ZONE]: zoneOf(1) } } });
  const pace = { op: 'replace', path: '/spec/updateStrategy/rollingUpdate/maxUnavailable', value: AT_ONCE } as const;
  await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, [pace], 'kubectl-edit');
  await scenario.clock.sleep(60_000);
  return scenario;
}

/** Nodes whose agent was ever away, and the most that were so at a moment. */
function watched({ cluster: { store } }: Scenario): { readonly touched: ReadonlySet<string>; readonly worst: number } {
  const away = new Set<string>();
  const seen = { touched: new Set<string>(), worst: 0 };
  store.listen(({ kind, before, after }) => {
    const pod = after ?? before;
    if (kind.plural !== K.Pod.plural || !pod?.metadata.name.startsWith(AGENTS.name)) return;
    if (after && isPodReady(after) && !isStopping(after)) away.delete(nodeOf(pod));
    else away.add(nodeOf(pod));
    for (const node of away) seen.touched.add(node);
    seen.worst = Math.max(seen.worst, away.size);
  });
  return seen;
}

/** How many new agents each zone has. */
function zonesOf(scenario: Scenario): readonly number[] {
  const zones = Map.groupBy(newOn(scenario), (node) => scenario.cluster.store.get(K.Node, node)?.metadata.labels?.[ZONE]);
  return [...zones.values()].map(({ length }) => length).toSorted();
}

const run = (scenario: Scenario, flags: Flags) => performIn(scenario, [applyStage], flags, { profile: waved });

describe(`a canary of 1 % on ${NODES} nodes`, function () {
  this.timeout(180_000);

  it('replaces ten agents, spread over zones, no more at a time than may be away, and touches no other', async () => {
    const scenario = await fleet();
    const seen = watched(scenario);
    const { exit, message } = await run(scenario, { canary: '1%' });
    await scenario.clock.sleep(600_000);
    assert.match(message ?? '', /^the canary runs: 10 of 1000 agents have /);
    const fresh = newOn(scenario);
    assert.deepEqual([exit, fresh.length, [...seen.touched].toSorted(), seen.worst], ['stopped', 10, fresh, AT_ONCE]);
    assert.deepEqual(zonesOf(scenario), [3, 3, 4]);
    assert.equal((strategy(scenario) as { readonly type: string }).type, 'OnDelete');
  });

  it('that fails touches no further node, and takes the same zones once it is repaired', async () => {
    const scenario = await fleet();
    const seen = watched(scenario);
    const bad = nameOf(5);
    scenario.cluster.nodes.fault(bad, 'crash-loop');
    let atFailure: readonly string[] | undefined;
    scenario.cluster.store.listen(({ kind, after }) => {
      if (kind.plural === K.Pod.plural && after && nodeOf(after) === bad && JSON.stringify(after.status).includes('CrashLoopBackOff'))
        atFailure ??= [...seen.touched];
    });
    const { exit, message } = await run(scenario, { canary: '1%', timeout: '20m' });
    await scenario.clock.sleep(3_600_000);
    assert.match(message ?? '', new RegExp(`^the canary failed: 1 pod failed, .*${bad}`));
    assert.deepEqual([exit, [...seen.touched]], ['stopped', atFailure]);
    assert.ok(seen.touched.size < 10 && seen.worst <= AT_ONCE, `${seen.touched.size}, ${seen.worst}`);
    scenario.cluster.nodes.fault(bad, 'none');
    await scenario.clock.sleep(60_000);
    const resumed = await run(scenario, { canary: '1%' });
    assert.deepEqual([resumed.exit, zonesOf(scenario)], ['stopped', [3, 3, 4]], resumed.message);
  });
});
