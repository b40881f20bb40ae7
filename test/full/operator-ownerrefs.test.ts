import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import type { Api } from '../control-plane/api.ts';
import { type PolicyMigration, playPolicyMigration } from '../control-plane/policy-migration.ts';
import { NEW_SERVER, OLD_SERVER } from '../control-plane/service-objects.ts';
import { collectorSettles } from '../support/collector-settles.ts';
import { TYPHA } from '../support/operated-bench.ts';
import { type OperatedCluster, operatedCluster } from '../support/operated-cluster.ts';
import { GROUP, makeOwnedObjects } from '../support/owned-objects.ts';
import { graphAfter, type OwnerGraph, type OwnerNames, readOwnerGraph, readOwnerNames } from '../support/owner-graph.ts';
import { hasReleases, releases } from '../support/shared.ts';
import type { UpgradeProcess } from '../support/upgrade-process.ts';

const RUN = [
  ...['run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', 'v3.32.1'],
  ...['--manifest-url', releases, '--accept', TYPHA],
] as const;
const DEPENDENTS = 200;
const SYSTEM = 'calico-system';
const LOOK_EVERY_MS = 100;
const SETTINGS = {
  ...{ apiVersion: `crd.${GROUP}/v1`, kind: 'KubeControllersConfiguration', metadata: { name: 'default' } },
  spec: { controllers: {} },
};

const done = ({ exitCode, stdout, stderr }: UpgradeProcess) => assert.equal(exitCode, 0, `${stdout}\n${stderr}`);

/** The operator turns the APIService to its own namespace at once: from then on only its new pods answer, by the target's rule. */
async function followsOperator(api: Api, served: AggregatedApi, signal: AbortSignal): Promise<void> {
  const path = `/apis/apiregistration.k8s.io/v1/apiservices/v3.${GROUP}`;
  while (!signal.aborted) {
    const { spec } = await api.get<{ readonly spec: { readonly service: { readonly namespace: string } } }>(path);
    if (spec.service.namespace === SYSTEM && served.rule !== NEW_SERVER) served.serve(NEW_SERVER);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Describes procedure B with dependents of every sort, and what becomes of policies and their names. */
function describeOwned(title: string, flags: readonly string[], renamed: number): void {
  describe(`procedure G where an operator upgrades, ${title}, under a real garbage collector`, function () {
    this.timeout(600_000);
    const run = [...RUN, ...flags];
    const end = new AbortController();
    let cluster: OperatedCluster;
    let migration: PolicyMigration;
    let following: Promise<void> | undefined;
    let first: OwnerGraph;
    let owners: OwnerNames;
    before(async function () {
      if (!hasReleases()) this.skip(); // needs the release files beside the repository
      cluster = await operatedCluster({ mode: 'well', pace: 0.1 }, { apiServer: true });
      const { api } = cluster.plane;
      assert.ok(cluster.apiServer);
      following = followsOperator(api, cluster.apiServer, end.signal);
      migration = playPolicyMigration(api, {
        ...{ group: GROUP, namespace: SYSTEM },
        ...{ agents: 'calico-node', controllers: 'calico-kube-controllers' },
      });
      // Running controllers make it.
      await api.send('POST', `/apis/crd.${GROUP}/v1/kubecontrollersconfigurations`, SETTINGS);
      await makeOwnedObjects(api, DEPENDENTS);
      await cluster.plane.restartControllerManager();
      await collectorSettles(api);
      first = await readOwnerGraph(api);
      owners = await readOwnerNames(api, OLD_SERVER);
    });
    after(async () => {
      end.abort();
      await following;
      await migration?.stop();
      await cluster?.stop();
    });

    const wanted = async () => graphAfter(first, owners, await readOwnerNames(cluster.plane.api, NEW_SERVER));

    it('loses no dependent, and has every reference back with the new UID', async () => {
      const { plane, around } = cluster;
      done(await cluster.upgrade(...run));
      assert.equal(migration.migrated.length, renamed);
      await plane.restartControllerManager();
      await collectorSettles(plane.api);
      assert.deepEqual(await readOwnerGraph(plane.api), await wanted());
      const files = await readdir(around.home, { recursive: true });
      assert.equal(files.filter((name) => /owner-references-[^/]*\.json$/.test(name)).length, 1, `${files}`);
    });

    it('writes nothing the second time', async () => {
      const before = await cluster.versions();
      done(await cluster.upgrade(...run));
      assert.deepEqual([await cluster.versions(), await readOwnerGraph(cluster.plane.api)], [before, await wanted()]);
    });
  });
}

describeOwned('policies with new names', [], 2);
describeOwned('the renaming of policies held', ['--hold-policy-migration'], 0);
