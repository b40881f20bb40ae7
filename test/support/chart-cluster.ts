import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { type ControlPlaneOptions, startControlPlane } from '../control-plane/control-plane.ts';
import { writeStatus } from '../control-plane/operated-statuses.ts';
import type { OperatorManner } from '../control-plane/operator.ts';
import { until } from '../control-plane/until.ts';
import { NEW_CHART, OLD_CHART, type OwnChart, serveChart, writeChart } from '../helm/own-charts.ts';
import type { HelmMajor } from '../helm/programs.ts';
import { clusterAround, folderFor, type InstalledCluster, opened, PATHS, shared } from './installed-cluster.ts';
import { needsHelm } from './needs-helm.ts';
import { playService } from './played-service.ts';
import { manifestFile, releases } from './releases.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded, surroundingsEnv } from './upgrade-process.ts';

export const RELEASE_NAMESPACE = 'tigera-operator';

/** A real control plane on which the operator was installed with the real chart tool from our own small chart. */
export type ChartCluster = Awaited<ReturnType<typeof chartCluster>>;

const { deployments, secrets, configMaps, accounts, roles, definitions, installations, leases } = PATHS;
const WATCHED = [deployments, secrets, configMaps, accounts, roles, definitions, installations, leases];

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
  /** Of its control plane. */
  readonly plane?: ControlPlaneOptions;
  /** An operator is played, which brings its release; without one stands what an operator once brought. */
  readonly operator?: OperatorManner;
  /** The v3 API is served, by a played API server that the operator moves. */
  readonly apiServer?: boolean;
}

export function chartCluster(helm: string, request: ChartInstall = {}) {
  const { chart = OLD_CHART, crds = manifestFile('v3.27.5', 'operator-crds.yaml'), namespace = RELEASE_NAMESPACE, operator } = request;
  return opened(async (endBy) => {
    const home = await folderFor(endBy);
    const plane = await startControlPlane({ maxMinutes: 20, ...request.plane });
    endBy(plane.stop);
    const service = operator && playService(plane, operator);
    endBy(() => service?.stop());
    await plane.addNodes(2);
    const charts = { old: await writeChart(home, { ...chart, crds }), target: await writeChart(home, NEW_CHART) };
    const repository = await serveChart(helm, home, charts.target);
    endBy(repository.close);
    const env = { PATH: [dirname(helm), dirname(plane.programs.kubectl), '/usr/bin', '/bin'].join(delimiter), ...request.env };
    const around = clusterAround(plane, WATCHED, { home, env });
    const cluster = {
      ...around,
      ...{ repository: repository.url, confirmed: repository.confirmed, charts, tool: helm },
      helm: async (...args: readonly string[]) =>
        (await execa(helm, args, { env: surroundingsEnv(around.around), extendEnv: false })).stdout,
      async read(resource: string, jsonPath: string) {
        const { exitCode, stdout, stderr } = await plane.kubectl(['get', ...resource.split(' '), '-o', `jsonpath=${jsonPath}`]);
        assert.equal(exitCode, 0, stderr);
        return stdout;
      },
    };
    const values = join(home, 'values.yaml');
    await writeFile(values, OWN_VALUES);
    await cluster.helm('install', 'calico', charts.old, '-n', namespace, '--create-namespace', '--values', values);
    if (!service) await standAgents(cluster, chart.version);
    /** The played v3 API server, where one was asked for. */
    const apiServer = await service?.brought({ apiServer: request.apiServer ?? false });
    return { ...cluster, apiServer };
  });
}

/** One for the tests of a suite; the very first run builds helm. */
export const sharedChartCluster = (major: HelmMajor, request?: ChartInstall): ChartCluster =>
  shared(async (context) => chartCluster(await needsHelm(context, major), request), 0);

/** What an operator of this release has brought. */
async function standAgents({ plane, read }: Pick<InstalledCluster, 'plane' | 'read'>, release: string): Promise<void> {
  const rendered = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } },
    workload('DaemonSet', 'calico-node', `node:${release}`),
    workload('Deployment', 'calico-kube-controllers', `kube-controllers:${release}`),
  ];
  for (const one of rendered) assertSucceeded(await plane.kubectl(['create', '-f', '-'], JSON.stringify(one)));
  const status = JSON.stringify({ status: { calicoVersion: release } });
  await plane.kubectl(['patch', 'installations.operator.tigera.io', 'default', '--subresource=status', '--type=merge', '-p', status]);
  await writeStatus(plane.api, 'calico', { generation: undefined, why: '' });
  await until('the agents run', async () => (await read(`daemonset -n ${SYSTEM} calico-node`, '{.status.numberReady}')) === '2');
}

const SYSTEM = 'calico-system';

function workload(kind: string, name: string, image: string): object {
  const labels = { 'k8s-app': name };
  const containers = [{ name, image: `mirror.example.org/calico/${image}`, env: [{ name: 'DATASTORE_TYPE', value: 'kubernetes' }] }];
  const template = { metadata: { labels }, spec: { containers } };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: SYSTEM, labels },
    spec: { selector: { matchLabels: labels }, template },
  };
}

/** The flags of an upgrade of this cluster. */
export const flagsOf = ({ repository, confirmed }: ChartCluster): readonly string[] => [
  ...['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases],
  ...['--repo', repository, ...confirmed],
];
