import { type Api, isHealthy } from './api.ts';
import type { Programs } from './binaries.ts';
import {
  type ApiServerFeatures,
  apiServerArguments,
  controllerManagerArguments,
  etcdArguments,
  type Layout,
  schedulerArguments,
} from './components.ts';
import type { Processes, Running } from './processes.ts';
import { until } from './until.ts';

/** What starting any part of a control plane needs. */
export interface Ground {
  readonly processes: Processes;
  readonly programs: Programs;
  readonly layout: Layout;
  /** How fast the controllers may ask; 20 and 50 a second, their defaults, unless said. */
  readonly requestsPerSecond?: number | undefined;
}

/** `quotaBytes`: the size at which it takes no more writes; its default unless said. */
export async function startStore({ processes, programs, layout }: Ground, quotaBytes?: number): Promise<void> {
  await processes.start('etcd', programs.etcd, etcdArguments(layout, quotaBytes));
}

/** Resolves once it serves what every cluster has. */
export async function startApiServer({ processes, programs, layout }: Ground, api: Api, features: ApiServerFeatures): Promise<Running> {
  const running = await processes.start('kube-apiserver', programs['kube-apiserver'], apiServerArguments(layout, features));
  await up(running, async () => {
    await api.get('/api/v1/namespaces/default');
    await api.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin');
    return true;
  });
  return running;
}

/** Resolves once it is healthy: its controllers run. */
export async function startControllerManager({ processes, programs, layout, requestsPerSecond }: Ground): Promise<Running> {
  const name = 'kube-controller-manager';
  const running = await processes.start(name, programs[name], controllerManagerArguments(layout, requestsPerSecond));
  await up(running, () => isWell(running, layout.ports.controllerManager));
  return running;
}

/** Resolves once it is healthy: one that ended would leave every pod of a Deployment waiting without a word. */
export async function startScheduler({ processes, programs, layout, requestsPerSecond }: Ground): Promise<void> {
  const name = 'kube-scheduler';
  const running = await processes.start(name, programs[name], schedulerArguments(layout, requestsPerSecond));
  await up(running, () => isWell(running, layout.ports.scheduler));
}

/** Whoever else took the port may be healthy as well: only one that has it itself is asked. */
async function isWell(running: Running, port: number): Promise<boolean> {
  return (await running.said('Serving securely on')) && isHealthy(port);
}

/** Waits until it answers; throws with the end of its log if it ends or never does. */
async function up(running: Running, answers: () => Promise<boolean>): Promise<void> {
  const problem = await until(`${running.name} answers`, async () => running.ended() || (await answers())).catch((thrown: unknown) =>
    String(thrown),
  );
  if (running.ended()) throw new Error(`${running.name} ended\n${await running.tail()}`);
  if (problem !== undefined) throw new Error(`${problem}\n${await running.tail()}`);
}
