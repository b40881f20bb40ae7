import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import type { OwnerReference } from '../../src/kernel/object.ts';
import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import type { Api } from '../control-plane/api.ts';
import { playPolicyMigration } from '../control-plane/policy-migration.ts';
import { NEW_SERVER } from '../control-plane/service-objects.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import { type InstalledCluster, opened, shared } from './installed-cluster.ts';
import type { OperatedCluster } from './operated-cluster.ts';
import { JOURNAL } from './owned-cluster.ts';
import { GROUP } from './owned-objects.ts';
import { graphWithout, ownedGraphs } from './owner-graph.ts';
import { assertSucceeded } from './upgrade-process.ts';

const DEPENDENTS = 200;
const SYSTEM = 'calico-system';
const LOOK_EVERY_MS = 100;
/** No limit: the very first run builds the chart tool. */
const BUILDS_HELM = 0;
const SETTINGS = {
  ...{ apiVersion: `crd.${GROUP}/v1`, kind: 'KubeControllersConfiguration', metadata: { name: 'default' } },
  spec: { controllers: {} },
};

/** The operator turns the APIService to its own namespace at once: from then on only its new pods answer, by the target's rule. */
async function followsOperator(api: Api, served: AggregatedApi, signal: AbortSignal): Promise<void> {
  const path = `/apis/apiregistration.k8s.io/v1/apiservices/v3.${GROUP}`;
  while (!signal.aborted) {
    const { spec } = await api.get<{ readonly spec: { readonly service: { readonly namespace: string } } }>(path);
    if (spec.service.namespace === SYSTEM && served.rule !== NEW_SERVER) served.serve(NEW_SERVER);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** A cluster whose operator is played, and its API server with it. */
type PlayedCluster = Pick<OperatedCluster, keyof InstalledCluster | 'apiServer'>;

/** One way in which an operator gets into a cluster. */
export interface OperatedWay<C extends PlayedCluster = PlayedCluster> {
  /** `where an operator upgrades`. */
  readonly title: string;
  start(context: Mocha.Context): Promise<C>;
  /** Flags of every command. */
  flags(cluster: C): readonly string[];
}

/** An operator's cluster with dependents of every sort, and the graph of their references. */
function ownedByOperated<C extends PlayedCluster>(way: OperatedWay<C>, context: Mocha.Context) {
  return opened(async (endBy) => {
    const cluster = await way.start(context);
    endBy(cluster.stop);
    const { plane, apiServer } = cluster;
    const { api } = plane;
    assert.ok(apiServer);
    const agents = { group: GROUP, namespace: SYSTEM, agents: 'calico-node', controllers: 'calico-kube-controllers' };
    const migration = playPolicyMigration(api, agents);
    endBy(migration.stop);
    const end = new AbortController();
    const following = followsOperator(api, apiServer, end.signal);
    endBy(() => {
      end.abort();
      return following;
    });
    // Running controllers make it.
    await api.send('POST', `/apis/crd.${GROUP}/v1/kubecontrollersconfigurations`, SETTINGS);
    const graphs = await ownedGraphs(plane, DEPENDENTS);
    /** A command with the flags of this way. */
    const commanded = (...args: readonly string[]) => cluster.upgrade(...args, ...way.flags(cluster));
    return { ...graphs, cluster, migration, upgrade: commanded };
  });
}

const ofPolicy = ({ apiVersion, kind }: OwnerReference) => apiVersion.startsWith(`${GROUP}/`) && kind.endsWith('Policy');

/** Procedure G with 200 dependents: with the policies renamed, and with the renaming held and released. */
export function describeOperatedOwners<C extends PlayedCluster>(way: OperatedWay<C>): void {
  describe(`dependents ${way.title}, under a real garbage collector`, function () {
    this.timeout(600_000);
    const owned = shared((context) => ownedByOperated(way, context), BUILDS_HELM);

    it('live through it, and have every reference back with the new UID', async () => {
      const { cluster, upgrade, migration, graph, wanted } = owned;
      assertSucceeded(await upgrade('run', '--skip', 'cli'));
      assert.equal(migration.migrated.length, 2);
      await collectorStartsAnew(cluster.plane);
      assert.deepEqual(await graph(), await wanted());
      const files = await readdir(cluster.around.home, { recursive: true });
      assert.equal(files.filter((name) => /owner-references-[^/]*\.json$/.test(name)).length, 1, `${files}`);
    });

    it('are not written a second time', async () => {
      const { cluster, upgrade, graph, wanted } = owned;
      const before = await cluster.versions();
      assertSucceeded(await upgrade('run', '--skip', 'cli'));
      assert.deepEqual([await cluster.versions(), await graph()], [before, await wanted()]);
    });
  });

  describe(`dependents ${way.title} and the renaming of policies is held, under a real garbage collector`, function () {
    this.timeout(600_000);
    const owned = shared((context) => ownedByOperated(way, context), BUILDS_HELM);

    it('live through it; what names a policy, which the new server does not find, stays in the journal', async () => {
      const { cluster, upgrade, migration, graph, wanted } = owned;
      assertSucceeded(await upgrade('run', '--skip', 'cli', '--until', 'controllers'));
      assert.deepEqual(migration.migrated, []);
      await collectorStartsAnew(cluster.plane);
      assert.deepEqual(await graph(), graphWithout(await wanted(), ofPolicy));
      await cluster.plane.api.get(JOURNAL);
    });

    it('have everything back once commit releases the hold', async () => {
      const { cluster, upgrade, migration, graph, wanted } = owned;
      assertSucceeded(await upgrade('commit', '--skip', 'cli'));
      assert.ok(migration.migrated.length >= 2, `${migration.migrated.length} renamed`);
      await collectorStartsAnew(cluster.plane);
      assert.deepEqual(await graph(), await wanted());
    });
  });
}
