import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import type { Programs } from '../control-plane/build-plan.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import type { OperatorManner } from '../control-plane/operator.ts';
import { until } from '../control-plane/until.ts';
import { serveCharts } from '../helm/chart-repository.ts';
import { NEW_CHART, OLD_CHART, type OwnChart, writeChart } from '../helm/own-charts.ts';
import { clusterAround, type InstalledCluster, opened } from './installed-cluster.ts';
import { playService } from './played-service.ts';
import { manifestFile, releases } from './releases.ts';
import { assertSucceeded, type Surroundings, surroundingsEnv } from './upgrade-process.ts';

export const RELEASE_NAMESPACE = 'tigera-operator';

/** A real control plane on which the operator was installed with the real chart tool from our own small chart. */
export interface ChartCluster extends InstalledCluster {
  /** The played v3 API server, where one was asked for. */
  readonly apiServer: AggregatedApi | undefined;
  readonly repository: string;
  /** Folder of the old and the new chart. */
  readonly charts: { readonly old: string; readonly target: string };
  helm(...args: readonly string[]): Promise<string>;
}

const WATCHED = 'deployments.apps,secrets,configmaps,serviceaccounts,clusterroles,crds,installations.operator.tigera.io,leases';

/** Values that the person who installed it had chosen. */
export const OWN_VALUES = `installation:
  registry: mirror.example.org/
  kubeletVolumePluginPath: /var/lib/kubelet
resources:
  requests: { cpu: 50m }
`;

export interface ChartInstall {
  readonly chart?: OwnChart;
  /** Namespace of the release; the operator's unless said. */
  readonly namespace?: string;
  /** File of the CRDs of the installed release. */
  readonly crds?: string;
  /** Variables of the person's shell: HELM_DRIVER, say. */
  readonly env?: Readonly<Record<string, string>>;
  /** Of another control plane than the usual one. */
  readonly programs?: Programs;
  /** An operator is played, which brings its release; without one stands what an operator once brought. */
  readonly operator?: OperatorManner;
  /** Its API server keeps an audit log of all requests. */
  readonly audit?: boolean;
  /** The v3 API is served, by a played API server that the operator moves. */
  readonly apiServer?: boolean;
}

export function chartCluster(helm: string, request: ChartInstall = {}): Promise<ChartCluster> {
  const { chart = OLD_CHART, crds = manifestFile('v3.27.5', 'operator-crds.yaml'), env = {}, programs, operator, audit } = request;
  return opened(async (endBy) => {
    const home = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-chart-'));
    endBy(() => rm(home, { recursive: true, force: true }));
    const plane = await startControlPlane({ maxMinutes: 20, ...(programs ? { programs } : {}), ...(audit ? { audit: 'requests' } : {}) });
    endBy(plane.stop);
    const service = operator && playService(plane, operator);
    endBy(() => service?.stop());
    await plane.addNodes(2);
    const charts = { old: await writeChart(home, { ...chart, crds }), target: await writeChart(home, NEW_CHART) };
    const repository = await serveCharts(helm, home, [charts.target]);
    endBy(repository.close);
    const { kubectl } = plane.programs;
    const path = [dirname(helm), dirname(kubectl), '/usr/bin', '/bin'].join(delimiter);
    const around: Surroundings = { home, kubeconfig: plane.kubeconfigPath, kubectl, env: { PATH: path, ...env } };
    const cluster = {
      ...clusterAround(plane, around, WATCHED),
      ...{ repository: repository.url, charts },
      helm: async (...args: readonly string[]) => (await execa(helm, args, { env: surroundingsEnv(around), extendEnv: false })).stdout,
      async read(resource: string, jsonPath: string) {
        const { exitCode, stdout, stderr } = await plane.kubectl(['get', ...resource.split(' '), '-o', `jsonpath=${jsonPath}`]);
        assert.equal(exitCode, 0, stderr);
        return stdout;
      },
    };
    await install(cluster, request.namespace ?? RELEASE_NAMESPACE);
    if (!service) await standAgents(cluster, chart.version);
    return { ...cluster, apiServer: await service?.brought({ apiServer: request.apiServer ?? false }) };
  });
}

type Installing = Omit<ChartCluster, 'apiServer' | 'stop'>;

async function install(cluster: Installing, namespace: string): Promise<void> {
  const values = join(cluster.around.home, 'values.yaml');
  await writeFile(values, OWN_VALUES);
  await cluster.helm('install', 'calico', cluster.charts.old, '-n', namespace, '--create-namespace', '--values', values);
}

/** What an operator of this release has brought. */
async function standAgents(cluster: Installing, release: string): Promise<void> {
  const agents = join(cluster.around.home, 'agents.yaml');
  await writeFile(agents, AGENTS.replaceAll('RELEASE', release));
  assertSucceeded(await cluster.plane.apply(agents));
  const status = JSON.stringify({ status: { calicoVersion: release } });
  const patch = ['patch', 'installations.operator.tigera.io', 'default', '--subresource=status', '--type=merge', '-p', status];
  await cluster.plane.kubectl(patch);
  await until('the agents run', async () => {
    return (await cluster.read('daemonset -n calico-system calico-node', '{.status.numberReady}')) === '2';
  });
}

/** What the operator of the old release has rendered. */
const AGENTS = `apiVersion: v1
kind: Namespace
metadata: { name: calico-system }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: calico-node, namespace: calico-system, labels: { k8s-app: calico-node } }
spec:
  selector: { matchLabels: { k8s-app: calico-node } }
  template:
    metadata: { labels: { k8s-app: calico-node } }
    spec:
      containers:
        - { name: calico-node, image: "mirror.example.org/calico/node:RELEASE", env: [{ name: DATASTORE_TYPE, value: kubernetes }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: calico-kube-controllers, namespace: calico-system, labels: { k8s-app: calico-kube-controllers } }
spec:
  replicas: 1
  selector: { matchLabels: { k8s-app: calico-kube-controllers } }
  template:
    metadata: { labels: { k8s-app: calico-kube-controllers } }
    spec:
      containers: [{ name: calico-kube-controllers, image: "mirror.example.org/calico/kube-controllers:RELEASE" }]
`;

/** The flags of an upgrade of this cluster. */
export const flagsOf = ({ repository }: ChartCluster): readonly string[] => [
  ...['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases],
  ...['--repo', repository],
];
