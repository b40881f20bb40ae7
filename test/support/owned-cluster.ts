import { join } from 'node:path';
import { aggregate } from '../control-plane/aggregation.ts';
import { type ControlPlaneOptions, startControlPlane } from '../control-plane/control-plane.ts';
import { startFaultProxy } from '../control-plane/fault-proxy.ts';
import { installManifest } from '../control-plane/install.ts';
import { playPolicyMigration } from '../control-plane/policy-migration.ts';
import { playServiceApiServer } from '../control-plane/service-api-server.ts';
import { folderFor, installedCluster, opened } from './installed-cluster.ts';
import { GROUP } from './owned-objects.ts';
import { graphWithout, type OwnerGraph, ownedGraphs, readOwnerGraphAsOf } from './owner-graph.ts';
import { manifestFile, releases } from './releases.ts';
import { removalsTooEarly } from './removal-order.ts';
import { CALICO_TARGET } from './target.ts';
import { upgrade } from './upgrade-process.ts';

export const TARGET = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
/** Head of the journal. */
export const JOURNAL = '/api/v1/namespaces/kube-system/secrets/netsvc-upgrade-owners';

/** A cluster and its proxy end after so many minutes, whatever happens. */
const MINUTES = 10;

/** What a journal and patches say is read from them. */
const BODIES = { bodies: true, maxMinutes: MINUTES } as const;

export type OwnedCluster = Awaited<ReturnType<typeof ownedCluster>>;

/** The published manifests of v3.26.5 with their API server, played by its rules, and dependents of every sort. */
export function ownedCluster(count: number) {
  return opened(async (endBy) => {
    const manifest = manifestFile('v3.26.5', 'calico.yaml');
    const cluster = await installedCluster({ manifest, nodes: 2, clusterNetwork: true, maxMinutes: MINUTES });
    endBy(cluster.stop);
    const { plane } = cluster;
    const proxy = await startFaultProxy({ ...BODIES, behind: plane.access, kubeconfigPath: join(plane.dir, 'proxy.kubeconfig') });
    endBy(proxy.stop);
    const around = { ...cluster.around, kubeconfig: proxy.kubeconfigPath };
    await installManifest(plane, manifestFile('v3.26.5', 'apiserver.yaml'));
    const server = await playServiceApiServer(plane);
    endBy(server.stop);
    const migration = playPolicyMigration(plane.api, { group: GROUP, agents: 'calico-node', controllers: 'calico-kube-controllers' });
    endBy(migration.stop);
    return {
      ...(await ownedGraphs(plane, count)),
      /** What is `around` it leads through the proxy. */
      cluster: { ...cluster, around, upgrade: (...args: readonly string[]) => upgrade(args, around) },
      proxy,
      /** Policies that were stored anew. */
      migrated: migration.migrated,
      /** References that were removed before their record was acknowledged, by all requests so far. */
      tooEarly: () => removalsTooEarly(proxy.requests),
      /** True once the API server serves by the target's rule. */
      convertsUids: () => server.served.rule.convertsUids,
    };
  });
}

/** The graph without what the upgrade breaks: references to the v3 group, and to stored policies, which are stored anew. */
export function bareGraph(graph: OwnerGraph): OwnerGraph {
  return graphWithout(
    graph,
    ({ apiVersion, kind }) => apiVersion.startsWith(`${GROUP}/`) || (apiVersion.startsWith(`crd.${GROUP}/`) && kind.endsWith('Policy')),
  );
}

export type OwnedPlane = Awaited<ReturnType<typeof ownedPlane>>;

/** Owned objects on a control plane that stores the kinds of v3.26.5 and shows them as v3: references come off and go back, nothing is upgraded. */
export function ownedPlane(count: number, options: ControlPlaneOptions) {
  return opened(async (endBy) => {
    const plane = await startControlPlane(options);
    endBy(plane.stop);
    await plane.kubectl(['apply', '--server-side', '-f', manifestFile('v3.26.5', 'calico.yaml')]);
    /** By the rule of the older releases unless told otherwise. */
    const served = await aggregate(plane, GROUP);
    endBy(() => served.stop());
    const { first, wanted } = await ownedGraphs(plane, count);
    const around = { home: await folderFor(endBy), kubeconfig: plane.kubeconfigPath, kubectl: plane.programs.kubectl };
    return { plane, around, served, first, wanted, graph: () => readOwnerGraphAsOf(plane.api, first) };
  });
}
