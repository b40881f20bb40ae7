import { delimiter, dirname } from 'node:path';
import { execa } from 'execa';
import { serveAggregatedApi } from '../control-plane/aggregated-api.ts';
import { isServed, register } from '../control-plane/aggregation.ts';
import { find } from '../control-plane/api.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { NETSVC, simulateService } from '../control-plane/service-simulator.ts';
import { playSettledOperator, type SettledManner } from '../control-plane/settled-operator.ts';
import { until } from '../control-plane/until.ts';
import { runningImage, type Workload } from '../control-plane/workloads.ts';
import { NETSVC_CHARTS, NETSVC_CRD_CHART, serveCharts, writeChart, writeCrdChart } from '../helm/own-charts.ts';
import { clusterAround, folderFor, opened, PATHS } from './installed-cluster.ts';
import { CRD_FILE, OPERATOR_FILE, SOURCE, SPACE, SYSTEM, TARGET, writeOperatedReleases } from './netsvc-operated.ts';
import { manifestFile } from './releases.ts';
import { assertSucceeded, surroundingsEnv } from './upgrade-process.ts';

const INSTALLATIONS = '/apis/operator.netsvc.io/v1/installations';
const WATCHED = [PATHS.deployments, PATHS.agents, PATHS.roles, PATHS.definitions, PATHS.secrets, INSTALLATIONS];

interface Opened {
  readonly plane: ControlPlane;
  readonly home: string;
  /** The folder of releases. */
  readonly releases: string;
  readonly endBy: (end: () => unknown) => void;
}

/** Everything but the operator itself: nodes, definitions, and the parts that are played. */
async function ground(endBy: Opened['endBy'], manner: SettledManner) {
  const home = await folderFor(endBy);
  const plane = await startControlPlane();
  endBy(plane.stop);
  const [operator, agents] = [playSettledOperator(plane.api, manner), simulateService(plane.api, NETSVC)];
  endBy(() => Promise.all([operator.stop(), agents.stop()]));
  await plane.addNodes(3);
  const releases = writeOperatedReleases(home);
  assertSucceeded(await plane.kubectl(['create', '-f', manifestFile(SOURCE, CRD_FILE, releases)]));
  await until('the Installation is served', async () => (await find(plane.api, INSTALLATIONS)) !== undefined);
  return { plane, home, releases, endBy, changedAt: operator.changedAt };
}

/** Once the operator has brought its release, with the v3 API, which is played. */
async function brought({ plane, endBy }: Opened): Promise<void> {
  const ready = (name: string) => async () => {
    const live = await find<Workload>(plane.api, `/apis/apps/v1/namespaces/${SYSTEM}/deployments/${name}`);
    return live !== undefined && runningImage(live) !== undefined;
  };
  for (const name of ['netsvc-kube-controllers', 'netsvc-apiserver']) await until(`${name} runs`, ready(name));
  const [group, namespace, service] = ['netsvc.io', SYSTEM, 'netsvc-api'];
  const served = await serveAggregatedApi(plane.access, group, [`${service}.${namespace}.svc`, 'localhost', '127.0.0.1']);
  endBy(() => served.stop());
  await register(plane.api, { ...served, group, namespace, service });
  await until('the v3 API is served', () => isServed(plane.api, group));
}

const installation = { apiVersion: 'operator.netsvc.io/v1', kind: 'Installation', metadata: { name: 'default' }, spec: {} };

/** By the operator's manifest. */
export function netsvcOperated(manner: SettledManner) {
  return opened(async (endBy) => {
    const base = await ground(endBy, manner);
    const { plane, home, releases, changedAt } = base;
    assertSucceeded(await plane.kubectl(['create', '-f', manifestFile(SOURCE, OPERATOR_FILE, releases)]));
    await plane.api.send('POST', INSTALLATIONS, installation);
    await brought(base);
    const flags = ['--profile', 'netsvc', '--release', TARGET, '--manifest-url', releases];
    return { ...clusterAround(plane, WATCHED, { home }), changedAt, flags };
  });
}

/** By the operator's chart, from a repository that also has the chart of the CRDs. */
export function netsvcCharted(helm: string, manner: SettledManner) {
  return opened(async (endBy) => {
    const base = await ground(endBy, manner);
    const { plane, home, releases, changedAt } = base;
    const [old, target] = [await writeChart(home, NETSVC_CHARTS.old), await writeChart(home, NETSVC_CHARTS.target)];
    const crds = await writeCrdChart(home, { ...NETSVC_CRD_CHART, file: manifestFile(TARGET, CRD_FILE, releases) });
    const repository = await serveCharts(helm, home, [target, crds]);
    endBy(repository.close);
    const env = { PATH: [dirname(helm), dirname(plane.programs.kubectl), '/usr/bin', '/bin'].join(delimiter) };
    const around = clusterAround(plane, WATCHED, { home, env });
    const run = async (...args: readonly string[]) =>
      (await execa(helm, args, { env: surroundingsEnv(around.around), extendEnv: false })).stdout;
    await run('install', 'netsvc', old, '-n', SPACE, '--create-namespace', '--set', 'resources.requests.cpu=50m');
    await brought(base);
    const flags = ['--profile', 'netsvc', '--release', TARGET, '--repo', repository.url, ...repository.confirmed];
    return { ...around, changedAt, flags, releases, helm: run };
  });
}
