import { join } from 'node:path';

/** Ports and files of one control plane; every component's arguments follow from it. */
export interface Layout {
  readonly dir: string;
  readonly ports: Ports;
}

export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
  readonly controllerManager: number;
  readonly scheduler: number;
}

export const SERVICE_CIDR = '10.96.0.0/16';
export const SERVICE_ADDRESS = '10.96.0.1';

/** Files below the control plane's folder. */
export function filesOf(dir: string) {
  const keys = (name: string) => join(dir, 'keys', name);
  return {
    kubeconfig: join(dir, 'kubeconfig'),
    /** Of the control plane's own parts. */
    partsKubeconfig: join(dir, 'parts.kubeconfig'),
    data: join(dir, 'etcd'),
    logs: join(dir, 'logs'),
    stages: join(dir, 'stages'),
    auditPolicy: join(dir, 'audit-policy.yaml'),
    auditLog: join(dir, 'audit.log'),
    egress: join(dir, 'egress.json'),
    clusterNetwork: join(dir, 'cluster-network'),
    authority: keys('authority.crt'),
    server: { certificate: keys('server.crt'), key: keys('server.key') },
    admin: { certificate: keys('admin.crt'), key: keys('admin.key') },
    frontProxy: { certificate: keys('front-proxy.crt'), key: keys('front-proxy.key') },
    serviceAccounts: { publicKey: keys('service-accounts.pub'), key: keys('service-accounts.key') },
  };
}

export const serverUrl = ({ ports }: Layout): string => `https://127.0.0.1:${ports.apiServer}`;

export const storeUrl = ({ ports }: Layout): string => `http://127.0.0.1:${ports.etcd}`;

/** `quotaBytes`: the size at which it takes no more writes; 2 GB, its default, unless said. */
export function etcdArguments({ dir, ports }: Layout, quotaBytes?: number): readonly string[] {
  const client = storeUrl({ dir, ports });
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    '--name=test',
    `--data-dir=${filesOf(dir).data}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=test=${peer}`,
    '--log-level=warn',
    ...(quotaBytes === undefined ? [] : [`--quota-backend-bytes=${quotaBytes}`]),
  ];
}

export interface ApiServerFeatures {
  /** Every write of a person or a tool is a line of the audit log. */
  readonly audit: boolean;
  /** What it sends to services of the cluster goes through a socket: `cluster-network.ts`. */
  readonly clusterNetwork: boolean;
  /** It can be asked to collect its garbage: `/debug/pprof/heap?gc=1`. */
  readonly profiled?: boolean | undefined;
}

export function apiServerArguments(
  { dir, ports }: Layout,
  { audit, clusterNetwork, profiled = false }: ApiServerFeatures,
): readonly string[] {
  const files = filesOf(dir);
  return [
    `--etcd-servers=${storeUrl({ dir, ports })}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.apiServer}`,
    `--tls-cert-file=${files.server.certificate}`,
    `--tls-private-key-file=${files.server.key}`,
    `--client-ca-file=${files.authority}`,
    `--service-account-key-file=${files.serviceAccounts.publicKey}`,
    `--service-account-signing-key-file=${files.serviceAccounts.key}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=RBAC',
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
    '--allow-privileged=true',
    '--endpoint-reconciler-type=none',
    `--profiling=${profiled}`,
    ...aggregationArguments(files),
    ...(clusterNetwork ? [`--egress-selector-config-file=${files.egress}`] : []),
    ...(audit ? [`--audit-policy-file=${files.auditPolicy}`, `--audit-log-path=${files.auditLog}`] : []),
  ];
}

/** The front proxy, so that aggregated APIs know who asks. */
function aggregationArguments(files: ReturnType<typeof filesOf>): readonly string[] {
  return [
    `--requestheader-client-ca-file=${files.authority}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${files.frontProxy.certificate}`,
    `--proxy-client-key-file=${files.frontProxy.key}`,
  ];
}

/** `requestsPerSecond`: the limit of a controller's own client; its default unless said. */
export function controllerManagerArguments({ dir, ports }: Layout, requestsPerSecond?: number): readonly string[] {
  const files = filesOf(dir);
  return [
    `--kubeconfig=${files.partsKubeconfig}`,
    '--leader-elect=false',
    `--service-account-private-key-file=${files.serviceAccounts.key}`,
    `--root-ca-file=${files.authority}`,
    '--use-service-account-credentials=false',
    '--allocate-node-cidrs=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.controllerManager}`,
    // Simulated nodes report rarely; a node that is to be gone is said to be gone.
    '--node-monitor-grace-period=5m',
    '--profiling=false',
    ...paceArguments(requestsPerSecond),
  ];
}

export function schedulerArguments({ dir, ports }: Layout, requestsPerSecond?: number): readonly string[] {
  return [
    `--kubeconfig=${filesOf(dir).partsKubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.scheduler}`,
    '--profiling=false',
    ...paceArguments(requestsPerSecond),
  ];
}

function paceArguments(requestsPerSecond: number | undefined): readonly string[] {
  return requestsPerSecond === undefined ? [] : [`--kube-api-qps=${requestsPerSecond}`, `--kube-api-burst=${2 * requestsPerSecond}`];
}

/** One simulation of nodes: the stages it plays and the nodes it owns. Each has pod addresses of its own. */
export function kwokArguments({ dir }: Layout, stages: readonly string[], selector: string, number: number): readonly string[] {
  return [
    `--kubeconfig=${filesOf(dir).partsKubeconfig}`,
    ...stages.map((file) => `--config=${file}`),
    `--manage-nodes-with-label-selector=${selector}`,
    `--cidr=10.${number + 1}.0.0/16`,
    '--node-ip=127.0.0.1',
    '--node-lease-duration-seconds=0',
  ];
}
