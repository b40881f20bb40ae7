import assert from 'node:assert/strict';
import { KEPT_PROBES } from '../../src/features/network-probe/kept-jobs.ts';
import { K } from '../../src/kernel/kinds.ts';
import { isPodReady, nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { allNodes, newOn, setAgent, strategy } from '../support/canary-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const PROBE = ['--probe-network', '--probe-image', 'registry.netsvc.io/tools/busybox:1.37', '--probe-namespace', 'probe'];
const RUN = ['run', '--yes', '--skip', 'cli', ...PROBE];
const STRICT = [...RUN, '--probe-strict'];
const HELD = { type: 'OnDelete' };

async function ground(nodes = 4): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes, cli: false });
  await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
  return scenario;
}

async function ran(scenario: Scenario, words: readonly string[]) {
  const bench = sandboxCommand(scenario);
  const exit = await bench.run(...words);
  return { exit, text: `${bench.err()}\n${bench.out()}` };
}

/** Once so many nodes have a new agent. */
function atNew(scenario: Scenario, count: number, act: () => void): void {
  const stop = scenario.cluster.store.listen(({ kind }) => {
    if (kind.plural !== K.Pod.plural || newOn(scenario).length < count) return;
    stop();
    scenario.clock.schedule(0, act);
  });
}

function endJobs({ cluster: { store } }: Scenario): void {
  for (const kind of [K.Job, K.Pod])
    for (const { metadata } of store.list(kind))
      if (metadata.labels?.['netsvc-upgrade/probe'] === KEPT_PROBES.split('=')[1]) store.delete(kind, metadata.name, metadata.namespace);
}

/** What an upgrade writes, with its managers of fields. */
const written = ({ cluster: { store } }: Scenario): string =>
  JSON.stringify([K.DaemonSet, K.Deployment, K.ClusterRole, K.ConfigMap, K.CustomResourceDefinition].map((kind) => store.list(kind)));

describe('a run that stops at the first broken connection', function () {
  this.timeout(120_000);

  it('stops where every connection has ended with its pods: nobody watches any more', async () => {
    const scenario = await ground(6);
    atNew(scenario, 2, () => endJobs(scenario));
    const { exit, text } = await ran(scenario, STRICT);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: connections are not watched any more: one of its pods was removed, or has ended$/m);
    assert.ok(newOn(scenario).length < 6, newOn(scenario).join());
    assert.deepEqual(strategy(scenario), HELD);
  });

  it('gives no verdict on a canary where every connection has ended, with or without --probe-strict', async () => {
    const scenario = await ground();
    atNew(scenario, 1, () => endJobs(scenario));
    const { exit, text } = await ran(scenario, [...RUN, '--canary', '1', '--soak', '1m']);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: the canary failed: connections are not watched any more: /m);
    assert.deepEqual([newOn(scenario).length, strategy(scenario)], [1, HELD]);
  });

  it('only warns of that without either', async () => {
    const scenario = await ground();
    atNew(scenario, 1, () => endJobs(scenario));
    const { exit, text } = await ran(scenario, RUN);
    assert.equal(exit, 0, text);
    assert.match(text, /Warning: connections are not watched any more: /);
  });

  it('sees one that falls silent with the last nodes, before Typha and the controllers follow', async () => {
    const scenario = await ground();
    atNew(scenario, 4, () => scenario.cluster.nodes.fault('node-04', 'silent'));
    const { exit, text } = await ran(scenario, STRICT);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: a connection from .* broke at \S+Z$/m);
    assert.deepEqual([newOn(scenario), strategy(scenario)], [allNodes(scenario), HELD]);
  });

  it('takes no further node while an agent is away that turned not ready when connections were looked at', async () => {
    const scenario = await ground();
    const most = new Set<number>();
    let isAway = false;
    const turn = (state: 'ready' | 'not-ready') => {
      isAway = state === 'not-ready';
      setAgent(scenario, 'node-02', state);
    };
    // Connections are quiet then, so the look at them takes some seconds.
    atNew(scenario, 2, () => scenario.cluster.nodes.fault('node-04', 'silent'));
    const stop = scenario.cluster.store.listen(({ kind, after }) => {
      if (
        kind.plural !== K.Pod.plural ||
        !after ||
        nodeOf(after) !== 'node-02' ||
        !newOn(scenario).includes('node-02') ||
        !isPodReady(after)
      )
        return;
      stop();
      scenario.clock.schedule(9_000, () => scenario.cluster.nodes.fault('node-04', 'none'));
      scenario.clock.schedule(4_000, () => turn('not-ready'));
      scenario.clock.schedule(21_000, () => turn('ready'));
    });
    scenario.cluster.store.listen(({ kind }) => {
      if (kind.plural === K.Pod.plural && isAway) most.add(newOn(scenario).length);
    });
    const { exit, text } = await ran(scenario, STRICT);
    assert.equal(exit, 0, text);
    assert.deepEqual([...most], [2]);
  });

  for (const [title, words] of [
    ['a run that begins with apply', ['--from', 'apply']],
    ['one that does without the backup', ['--skip', 'backup']],
  ] as const)
    it(`finds a bad probe before anything is changed: ${title}`, async () => {
      const scenario = await ground();
      scenario.cluster.nodes.fault('node-02', 'image-pull');
      const before = written(scenario);
      const { exit, text } = await ran(scenario, [...STRICT, ...words]);
      assert.equal(exit, 5, text);
      assert.match(text, /^error: no connections are kept: the pod on node-02: ImagePullBackOff.*; no agent was replaced$/m);
      assert.equal(written(scenario), before);
    });

  it('finds it before anything is changed where a canary is continued', async () => {
    const scenario = await ground();
    assert.equal((await ran(scenario, [...STRICT, '--canary', '1'])).exit, 5);
    const before = written(scenario);
    scenario.cluster.nodes.fault('node-02', 'image-pull');
    const { exit, text } = await ran(scenario, ['commit', ...STRICT.slice(1)]);
    assert.equal(exit, 5, text);
    assert.match(text, /^error: no connections are kept: .*; no agent was replaced$/m);
    assert.equal(written(scenario), before);
  });
});
