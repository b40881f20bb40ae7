import assert from 'node:assert/strict';
import { type OpenCluster, openCluster } from '../../src/adapters/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig.ts';
import { ownerJournal } from '../../src/adapters/owner-journal.ts';
import { journalMaps } from '../../src/adapters/owner-journal-maps.ts';
import { calico } from '../../src/profiles/calico.ts';
import { installManifest } from '../control-plane/install.ts';
import { type PolicyMigration, playPolicyMigration } from '../control-plane/policy-migration.ts';
import { CALICO_API, playServiceApiServer, type ServiceApiServer } from '../control-plane/service-api-server.ts';
import { NEW_SERVER, OLD_SERVER } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorSettles } from './collector-settles.ts';
import { type InstalledCluster, installedCluster } from './installed-cluster.ts';
import { GROUP, makeOwnedObjects, type Reference } from './owned-objects.ts';
import { graphAfter, type OwnerGraph, type OwnerNames, readOwnerGraph, readOwnerNames } from './owner-graph.ts';
import { restoreByParts, stripByParts } from './procedure-g.ts';
import { hasReleases, manifestFile, releases } from './shared.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases] as const;
const JOURNAL = '/api/v1/namespaces/kube-system/configmaps/netsvc-upgrade-owners';
const QUOTA = '/api/v1/namespaces/kube-system/resourcequotas';

const ofService = ({ apiVersion }: Reference): boolean => apiVersion.startsWith(`${GROUP}/`);

/**
 * Describes a whole upgrade around which references come off and go back, on a cluster of its own: the published manifests
 * with their API server, played by its rules, and so many dependents of every sort.
 */
export function describeProcedureG(count: number): void {
  describe(`procedure G with the parts of the program, ${count} dependents under a real garbage collector`, function () {
    this.timeout(280_000);
    let cluster: InstalledCluster;
    let server: ServiceApiServer;
    let migration: PolicyMigration;
    let open: OpenCluster;
    let first: OwnerGraph;
    let owners: OwnerNames;

    before(async function () {
      if (!hasReleases()) this.skip();
      cluster = await installedCluster({
        manifest: manifestFile('v3.26.5', 'calico.yaml'),
        nodes: 2,
        clusterNetwork: true,
        maxMinutes: 10,
      });
      const { plane } = cluster;
      await installManifest(plane, manifestFile('v3.26.5', 'apiserver.yaml'));
      server = await playServiceApiServer(plane, CALICO_API);
      migration = playPolicyMigration(plane.api, { group: GROUP, agents: 'calico-node', controllers: 'calico-kube-controllers' });
      await makeOwnedObjects(plane.api, count);
      await plane.restartControllerManager();
      await collectorSettles(plane.api);
      first = await readOwnerGraph(plane.api);
      owners = await readOwnerNames(plane.api, OLD_SERVER);
      open = openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env), { version: 'test' });
    });
    after(async () => {
      await open?.close();
      await migration?.stop();
      await server?.stop();
      await cluster?.stop();
    });

    /** As a machine has it that never saw the upgrade begin: nothing but the cluster. */
    const journal = async (runId = 'e2e') =>
      ownerJournal({ place: journalMaps(open, 'kube-system'), clusterUid: await open.clusterUid(), profile: 'calico', runId });

    it('starts with every dependent alive', () => assert.equal(Object.keys(first).length, count));

    it('takes nothing off where a quota leaves no room for the journal', async () => {
      const { api } = cluster.plane;
      await api.send('POST', QUOTA, {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'full' },
        spec: { hard: { 'count/configmaps': '1' } },
      });
      await until('the quota counts', async () => {
        const quota = await api.get<{ status?: { used?: Record<string, string> } }>(`${QUOTA}/full`);
        return Number(quota.status?.used?.['count/configmaps'] ?? 0) >= 1;
      });
      await assert.rejects(stripByParts(open, await journal(), calico), /exceeded quota/);
      assert.deepEqual(await readOwnerGraph(api), first);
      await api.send('DELETE', `${QUOTA}/full`);
    });

    it('takes every reference to the service off, and no other', async () => {
      await stripByParts(open, await journal(), calico);
      const bare = Object.fromEntries(Object.entries(first).map(([key, references]) => [key, references.filter((one) => !isRenewed(one))]));
      assert.deepEqual(await readOwnerGraph(cluster.plane.api), bare);
    });

    it('loses no dependent to the upgrade, the migration of policy names and two restarts of kube-controller-manager', async () => {
      const { plane } = cluster;
      const result = await cluster.upgrade(...RUN);
      assert.equal(result.exitCode, 0, `${result.stdout}\n${result.stderr}`);
      assert.deepEqual(server.served.rule, NEW_SERVER);
      await until('policies have their new names', async () => migration.migrated.length >= 2);
      for (let restart = 0; restart < 2; restart += 1) {
        await plane.restartControllerManager();
        await collectorSettles(plane.api);
      }
      assert.deepEqual(Object.keys(await readOwnerGraph(plane.api)), Object.keys(first));
    });

    it('puts nothing back from a journal that somebody edited', async () => {
      const { api } = cluster.plane;
      const { data } = await api.get<{ data: Record<string, string> }>(JOURNAL);
      const before = await readOwnerGraph(api);
      const edited = (data['journal.json'] ?? '').replace('"entries": ', '"entries": 1');
      await api.send('PATCH', JOURNAL, { data: { 'journal.json': edited } });
      await assert.rejects(async () => restoreByParts(open, await journal(), calico), /checksum does not match/);
      assert.deepEqual(await readOwnerGraph(api), before);
      await api.send('PATCH', JOURNAL, { data });
    });

    it('puts every reference back at its place, with its flags and the new UID, and the collector agrees', async () => {
      const { plane } = cluster;
      await restoreByParts(open, await journal('another-machine'), calico);
      const wanted = graphAfter(first, owners, await readOwnerNames(plane.api, NEW_SERVER));
      assert.deepEqual(await readOwnerGraph(plane.api), wanted);
      await plane.restartControllerManager();
      await collectorSettles(plane.api);
      assert.deepEqual(await readOwnerGraph(plane.api), wanted);
    });

    it('finds nothing dangling at the end', async () => {
      const result = await cluster.upgrade('verify', ...RUN.slice(4));
      assert.equal(result.exitCode, 0, `${result.stdout}\n${result.stderr}`);
    });

    /** Stored policies are stored anew, so references to them change as those of the v3 group do. */
    const isRenewed = (one: Reference) => ofService(one) || (one.apiVersion.startsWith(`crd.${GROUP}/`) && one.kind.endsWith('Policy'));
  });
}
