import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import type { Programs } from '../control-plane/build-plan.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import type { OperatorManner } from '../control-plane/operator.ts';
import { until } from '../control-plane/until.ts';
import { type ChartRepository, serveCharts } from '../helm/chart-repository.ts';
import { NEW_CHART, OLD_CHART, type OwnChart, writeChart } from '../helm/own-charts.ts';
import { atRest } from './at-rest.ts';
import { playService } from './played-service.ts';
import { manifestFile, releases } from './releases.ts';
import { type Surroundings, surroundingsEnv, type UpgradeProcess, upgrade } from './upgrade-process.ts';

export const RELEASE_NAMESPACE = 'tigera-operator';

/** A real control plane on which the operator was installed with the real chart tool from our own small chart. */
export interface ChartCluster {
  readonly plane: ControlPlane;
  /** The played v3 API server, where one was asked for. */
  readonly apiServer: AggregatedApi | undefined;
  readonly around: Surroundings;
  readonly repository: string;
  /** Folder of the old and the new chart. */
  readonly charts: { readonly old: string; readonly target: string };
  upgrade(...args: readonly string[]): Promise<UpgradeProcess>;
  helm(...args: readonly string[]): Promise<string>;
  read(resource: string, jsonPath: string): Promise<string>;
  /** resourceVersion of everything that an upgrade may touch: equal before and after = nothing was written. */
  versions(): Promise<string>;
  stop(): Promise<void>;
}

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

export async function chartCluster(helm: string, request: ChartInstall = {}): Promise<ChartCluster> {
  const { chart = OLD_CHART, crds = manifestFile('v3.27.5', 'operator-crds.yaml'), env = {}, programs, operator, audit } = request;
  const plane = await startControlPlane({ maxMinutes: 20, ...(programs ? { programs } : {}), ...(audit ? { audit: 'requests' } : {}) });
  const home = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-chart-'));
  const service = operator && playService(plane, operator);
  let repository: ChartRepository | undefined;
  const stop = async () => {
    await repository?.close();
    await service?.stop();
    await plane.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    await plane.addNodes(2);
    const old = await writeChart(home, { ...chart, crds });
    const target = await writeChart(home, NEW_CHART);
    repository = await serveCharts(helm, home, [target]);
    const path = [dirname(helm), dirname(plane.programs.kubectl), '/usr/bin', '/bin'].join(delimiter);
    const around: Surroundings = {
      home,
      kubeconfig: plane.kubeconfigPath,
      kubectl: plane.programs.kubectl,
      env: { PATH: path, ...env },
    };
    const cluster = clusterOf(plane, around, helm, { repository: repository.url, charts: { old, target }, stop });
    await install(cluster, home, request.namespace ?? RELEASE_NAMESPACE);
    if (!service) await standAgents(cluster, home, chart.version);
    return { ...cluster, apiServer: await service?.brought({ apiServer: request.apiServer ?? false }) };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

type Rest = Pick<ChartCluster, 'repository' | 'charts' | 'stop'>;

function clusterOf(plane: ControlPlane, around: Surroundings, helm: string, rest: Rest): ChartCluster {
  const kubectl = async (args: readonly string[]) => {
    const { exitCode, stdout, stderr } = await plane.kubectl(args);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  return {
    ...rest,
    plane,
    apiServer: undefined,
    around,
    upgrade: (...args) => upgrade(args, around),
    async helm(...args) {
      const env = surroundingsEnv(around);
      const { stdout } = await execa(helm, args, { env, extendEnv: false });
      return stdout;
    },
    read: (resource, jsonPath) => kubectl(['get', ...resource.split(' '), '-o', `jsonpath=${jsonPath}`]),
    versions() {
      const format = '{range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
      const kinds = 'deployments.apps,secrets,configmaps,serviceaccounts,clusterroles,crds,installations.operator.tigera.io,leases';
      return atRest(async () => withoutControlPlane(await kubectl(['get', kinds, '-A', '-o', `jsonpath=${format}`])));
    },
  };
}

/** The components of the control plane itself renew leases all the time. */
function withoutControlPlane(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^Lease\/(kube-node-lease|kube-system)\/(?!netsvc-upgrade)/.test(line) && !/apiserver-/.test(line))
    .join('\n');
}

async function install(cluster: ChartCluster, home: string, namespace: string): Promise<void> {
  const values = join(home, 'values.yaml');
  await writeFile(values, OWN_VALUES);
  await cluster.helm('install', 'calico', cluster.charts.old, '-n', namespace, '--create-namespace', '--values', values);
}

/** What an operator of this release has brought. */
async function standAgents(cluster: ChartCluster, home: string, release: string): Promise<void> {
  const agents = join(home, 'agents.yaml');
  await writeFile(agents, AGENTS.replaceAll('RELEASE', release));
  const { exitCode, stderr } = await cluster.plane.apply(agents);
  assert.equal(exitCode, 0, stderr);
  const status = JSON.stringify({ status: { calicoVersion: release } });
  await cluster.plane.kubectl([
    'patch',
    'installations.operator.tigera.io',
    'default',
    '--subresource=status',
    '--type=merge',
    '-p',
    status,
  ]);
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
