import { join } from 'node:path';
import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import { aggregate } from '../control-plane/aggregation.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../control-plane/control-plane.ts';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import { installManifest } from '../control-plane/install.ts';
import { playPolicyMigration } from '../control-plane/policy-migration.ts';
import { CALICO_API, playServiceApiServer } from '../control-plane/service-api-server.ts';
import { NEW_SERVER, OLD_SERVER } from '../control-plane/service-objects.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import { type InstalledCluster, installedCluster, opened } from './installed-cluster.ts';
import { GROUP, makeOwnedObjects, type Reference } from './owned-objects.ts';
import { graphAfter, type OwnerGraph, readOwnerGraph, readOwnerGraphAsOf, readOwnerNames } from './owner-graph.ts';
import { manifestFile, releases } from './releases.ts';
import { removalsTooEarly } from './removal-order.ts';
import { upgrade } from './upgrade-process.ts';

export const TARGET = ['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases] as const;
/** Head of the journal. */
export const JOURNAL = '/api/v1/namespaces/kube-system/secrets/netsvc-upgrade-owners';

/** A cluster and its proxy end after so many minutes, whatever happens. */
const MINUTES = 10;

/** The published manifests of v3.26.5 with their API server, played by its rules, and dependents of every sort. */
export interface OwnedCluster {
  /** What is `around` it leads through the proxy. */
  readonly cluster: InstalledCluster;
  readonly proxy: FaultProxy;
  /** Every dependent with its references, before anything was done. */
  readonly first: OwnerGraph;
  /** Policies that were stored anew. */
  readonly migrated: readonly string[];
  graph(): Promise<OwnerGraph>;
  /** What `first` must have become, with the owners' present names and UIDs. */
  wanted(): Promise<OwnerGraph>;
  /** References that were removed before their record was acknowledged, by all requests so far. */
  tooEarly(): readonly string[];
  /** True once the API server serves by the target's rule. */
  convertsUids(): boolean;
  stop(): Promise<void>;
}

/** What a journal and patches say is read from them. */
const BODIES = { bodies: true, maxMinutes: MINUTES } as const;

/** A cluster of its own; resolves when the garbage collector has looked at everything. */
export function ownedCluster(count: number): Promise<OwnedCluster> {
  return opened(async (endBy) => {
    const manifest = manifestFile('v3.26.5', 'calico.yaml');
    const cluster = await installedCluster({ manifest, nodes: 2, clusterNetwork: true, maxMinutes: MINUTES });
    endBy(cluster.stop);
    const { plane } = cluster;
    const proxy = await startFaultProxy({ ...BODIES, behind: plane.access, kubeconfigPath: join(plane.dir, 'proxy.kubeconfig') });
    endBy(proxy.stop);
    const around = { ...cluster.around, kubeconfig: proxy.kubeconfigPath };
    await installManifest(plane, manifestFile('v3.26.5', 'apiserver.yaml'));
    const server = await playServiceApiServer(plane, CALICO_API);
    endBy(server.stop);
    const migration = playPolicyMigration(plane.api, { group: GROUP, agents: 'calico-node', controllers: 'calico-kube-controllers' });
    endBy(migration.stop);
    await makeOwnedObjects(plane.api, count);
    await collectorStartsAnew(plane);
    const first = await readOwnerGraph(plane.api);
    const owners = await readOwnerNames(plane.api, OLD_SERVER);
    return {
      cluster: { ...cluster, around, upgrade: (...args) => upgrade(args, around) },
      ...{ proxy, first, migrated: migration.migrated },
      graph: () => readOwnerGraph(plane.api),
      wanted: async () => graphAfter(first, owners, await readOwnerNames(plane.api, NEW_SERVER)),
      tooEarly: () => removalsTooEarly(proxy.requests),
      convertsUids: () => server.served.rule.convertsUids,
    };
  });
}

/** The graph without what the upgrade breaks: references to the v3 group, and to stored policies, which are stored anew. */
export function bareGraph(graph: OwnerGraph): OwnerGraph {
  return Object.fromEntries(Object.entries(graph).map(([key, references]) => [key, references.filter((one) => !isBroken(one))]));
}

function isBroken({ apiVersion, kind }: Reference): boolean {
  return apiVersion.startsWith(`${GROUP}/`) || (apiVersion.startsWith(`crd.${GROUP}/`) && kind.endsWith('Policy'));
}

/** Owned objects on a control plane that stores the kinds of v3.26.5 and shows them as v3: references come off and go back, nothing is upgraded. */
export interface OwnedPlane {
  readonly plane: ControlPlane;
  /** Shows what is stored as v3, by the rule of the older releases unless told otherwise. */
  readonly served: AggregatedApi;
  /** Every dependent with its references, before anything was done. */
  readonly first: OwnerGraph;
  graph(): Promise<OwnerGraph>;
  stop(): Promise<void>;
}

/** A control plane of its own; resolves when the garbage collector has looked at everything. */
export function ownedPlane(count: number, options: ControlPlaneOptions): Promise<OwnedPlane> {
  return opened(async (endBy) => {
    const plane = await startControlPlane(options);
    endBy(plane.stop);
    await plane.kubectl(['apply', '--server-side', '-f', manifestFile('v3.26.5', 'calico.yaml')]);
    const served = await aggregate(plane, GROUP);
    endBy(() => served.stop());
    await makeOwnedObjects(plane.api, count);
    await collectorStartsAnew(plane);
    const first = await readOwnerGraph(plane.api);
    return { plane, served, first, graph: () => readOwnerGraphAsOf(plane.api, first) };
  });
}
