import assert from 'node:assert/strict';
import { journalStore } from '../../src/adapters/journal/journal.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { plantState } from '../support/planted-state.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { journalIn, recordsIn } from '../support/state.ts';

/** A command whose state is what Secrets of the cluster hold, as outside tests. */
async function output(scenario: Scenario, argv: readonly string[]): Promise<readonly [number, string, string]> {
  const bench = sandboxCommand(scenario);
  const { cluster, clusterUid } = scenario;
  Object.assign(bench.seams, {
    compose: async (request: ComposeRequest) => {
      const journal = journalStore({
        place: journalIn(cluster),
        form: async () => ownerEntries,
        clusterUid,
        profile: 'netsvc',
        runId: 'r1',
      });
      return { ...compositionOf(scenario, request), records: recordsIn(cluster), journal };
    },
  });
  return [await bench.run(...argv), bench.out(), bench.err()];
}

const COMMANDS = ['preflight', 'plan', 'status', 'ownerrefs list'].flatMap((command) =>
  ['wide', 'json'].map((format) => [...command.split(' '), '-o', format]),
);

describe('a forged state in other namespaces than kube-system', () => {
  it('changes no output of preflight, plan, status and ownerrefs list', async () => {
    const scenario = await installedSandbox();
    const { store } = scenario.cluster;
    for (const name of ['default', 'victim', 'tigera-operator', 'calico-system', 'netsvc-upgrade'])
      if (!store.get(K.Namespace, name))
        await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const all = async () => {
      const told: Record<string, readonly [number, string, string]> = {};
      for (const argv of COMMANDS) told[argv.join(' ')] = await output(scenario, argv);
      return told;
    };
    const before = await all();
    const spaces = store.list(K.Namespace).map(({ metadata }) => metadata.name);
    const planted = await plantState(
      scenario.cluster,
      scenario.clusterUid,
      spaces.filter((name) => name !== 'kube-system'),
    );
    assert.ok(planted > 20, String(planted));
    assert.deepEqual(await all(), before);
    assert.match(before['status -o wide']?.[1] ?? '', /no run of this program is recorded/);
  });

  it('is what kube-system would be heard with', async () => {
    const scenario = await installedSandbox();
    await plantState(scenario.cluster, scenario.clusterUid, ['kube-system']);
    assert.match((await output(scenario, ['status']))[1], /run 20200101T000000Z-forged00/);
    assert.match((await output(scenario, ['preflight']))[1], /a run to v3\.31\.0 is unfinished/);
  });
});
