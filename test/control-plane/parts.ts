import { type Api, isHealthy } from './api.ts';
import type { Program, Programs } from './build-plan.ts';
import { filesOf, type Layout, SERVICE_CIDR, storeUrl } from './layout.ts';
import type { Processes, Running } from './processes.ts';
import { type NodeFault, numberOf, selectorOf, writeStages } from './stages.ts';
import { until } from './until.ts';

export interface PartOptions {
  /** Time from a pod's binding to its readiness on a healthy node; 300 unless said. */
  readonly readyAfterMs?: number;
  /** Write an audit log of all writes that tools and persons make; `requests`: of what they read, too. */
  readonly audit?: boolean | 'requests';
  /** Services have addresses that can be reached, once somebody plays their network (`playClusterNetwork`). */
  readonly clusterNetwork?: boolean;
  /** The API server can be asked to collect its garbage: `/debug/pprof/heap?gc=1`. */
  readonly profiled?: boolean;
  /** Size at which etcd takes no more writes; 2 GB unless said. */
  readonly storeQuotaBytes?: number;
  /** Lets the controllers of a large cluster ask faster than their defaults (20 and 50 a second) allow. */
  readonly requestsPerSecond?: number;
}

/** What starting any part of a control plane needs. */
export interface Ground {
  readonly processes: Processes;
  readonly programs: Programs;
  readonly layout: Layout;
  readonly options: PartOptions;
}

const start = ({ processes, programs }: Ground, name: Program, args: readonly string[]) => processes.start(name, programs[name], args);

export function startStore(ground: Ground): Promise<Running> {
  const { layout, options } = ground;
  const quota = options.storeQuotaBytes === undefined ? [] : [`--quota-backend-bytes=${options.storeQuotaBytes}`];
  const peer = `http://127.0.0.1:${layout.ports.etcdPeer}`;
  return start(ground, 'etcd', [...etcdArguments('test', filesOf(layout.dir).data, storeUrl(layout), peer), ...quota]);
}

/** Of an etcd that is alone. */
export function etcdArguments(name: string, folder: string, client: string, peer: string): readonly string[] {
  return [
    `--name=${name}`,
    `--data-dir=${folder}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${name}=${peer}`,
    '--log-level=warn',
  ];
}

/** Resolves once it serves what every cluster has. */
export async function startApiServer(ground: Ground, api: Api): Promise<Running> {
  const { layout, options } = ground;
  const files = filesOf(layout.dir);
  const running = await start(ground, 'kube-apiserver', [
    `--etcd-servers=${storeUrl(layout)}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${layout.ports.apiServer}`,
    `--tls-cert-file=${files.server.certificate}`,
    `--tls-private-key-file=${files.server.key}`,
    `--client-ca-file=${files.authority}`,
    `--token-auth-file=${files.tokens}`,
    `--service-account-key-file=${files.serviceAccounts.publicKey}`,
    `--service-account-signing-key-file=${files.serviceAccounts.key}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=RBAC',
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
    '--allow-privileged=true',
    '--endpoint-reconciler-type=none',
    `--profiling=${options.profiled ?? false}`,
    // The front proxy, so that aggregated APIs know who asks.
    `--requestheader-client-ca-file=${files.authority}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${files.frontProxy.certificate}`,
    `--proxy-client-key-file=${files.frontProxy.key}`,
    ...(options.clusterNetwork ? [`--egress-selector-config-file=${files.egress}`] : []),
    ...(options.audit ? [`--audit-policy-file=${files.auditPolicy}`, `--audit-log-path=${files.auditLog}`] : []),
  ]);
  await up(running, async () => {
    await api.get('/api/v1/namespaces/default');
    await api.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin');
    return true;
  });
  return running;
}

/** Resolves once it is healthy: its controllers run. */
export function startControllerManager(ground: Ground): Promise<Running> {
  const { dir, ports } = ground.layout;
  const files = filesOf(dir);
  return startController(ground, 'kube-controller-manager', ports.controllerManager, [
    `--service-account-private-key-file=${files.serviceAccounts.key}`,
    `--root-ca-file=${files.authority}`,
    '--use-service-account-credentials=false',
    '--allocate-node-cidrs=false',
    // Simulated nodes report rarely; a node that is to be gone is said to be gone.
    '--node-monitor-grace-period=5m',
  ]);
}

/** Resolves once it is healthy: one that ended would leave every pod of a Deployment waiting without a word. */
export function startScheduler(ground: Ground): Promise<Running> {
  return startController(ground, 'kube-scheduler', ground.layout.ports.scheduler, []);
}

async function startController(ground: Ground, name: Program, port: number, args: readonly string[]): Promise<Running> {
  const pace = ground.options.requestsPerSecond;
  const running = await start(ground, name, [
    `--kubeconfig=${filesOf(ground.layout.dir).partsKubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--profiling=false',
    ...args,
    ...(pace === undefined ? [] : [`--kube-api-qps=${pace}`, `--kube-api-burst=${2 * pace}`]),
  ]);
  // Whoever else took the port may be healthy as well: only one that has it itself is asked.
  await up(running, async () => (await running.said('Serving securely on')) && isHealthy(port));
  return running;
}

/** Waits until it answers; throws with the end of its log if it ends or never does. */
async function up(running: Running, answers: () => Promise<boolean>): Promise<void> {
  const problem = await until(`${running.name} answers`, async () => running.ended() || (await answers())).catch(String);
  if (running.ended()) throw new Error(`${running.name} ended\n${await running.tail()}`);
  if (problem !== undefined) throw new Error(`${problem}\n${await running.tail()}`);
}

/**
 * Starts simulations when they are first needed: one kwok process per kind of fault, which owns the nodes with that label, and has pod
 * addresses of its own. So the node's label alone decides what happens to its pods, for any API server version.
 */
export function simulations({ processes, programs, layout, options }: Ground): (fault: NodeFault) => Promise<Running> {
  const started = new Map<NodeFault, Promise<Running>>();
  const files = filesOf(layout.dir);
  const begin = async (fault: NodeFault) => {
    const stages = await writeStages(files.stages, fault, options.readyAfterMs ?? 300);
    return processes.start(`kwok-${fault}`, programs.kwok, [
      `--kubeconfig=${files.partsKubeconfig}`,
      ...stages.map((file) => `--config=${file}`),
      `--manage-nodes-with-label-selector=${selectorOf(fault)}`,
      `--cidr=10.${numberOf(fault) + 1}.0.0/16`,
      '--node-ip=127.0.0.1',
      '--node-lease-duration-seconds=0',
    ]);
  };
  return (fault) => {
    const running = started.get(fault)?.then((before) => (before.ended() ? begin(fault) : before)) ?? begin(fault);
    started.set(fault, running);
    return running;
  };
}
