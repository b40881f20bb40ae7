import { join } from 'node:path';

/** Ports and files of one control plane; every part's arguments follow from it. */
export interface Layout {
  readonly dir: string;
  readonly ports: Readonly<Record<'etcd' | 'etcdPeer' | 'apiServer' | 'controllerManager' | 'scheduler', number>>;
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
    /** Who shows which token (`--token-auth-file`). */
    tokens: keys('tokens.csv'),
    data: join(dir, 'etcd'),
    stages: join(dir, 'stages'),
    auditPolicy: join(dir, 'audit-policy.yaml'),
    auditLog: join(dir, 'audit.log'),
    egress: join(dir, 'egress.json'),
    clusterNetwork: join(dir, 'cluster-network'),
    authority: keys('authority.crt'),
    server: { certificate: keys('server.crt'), key: keys('server.key') },
    frontProxy: { certificate: keys('front-proxy.crt'), key: keys('front-proxy.key') },
    serviceAccounts: { publicKey: keys('service-accounts.pub'), key: keys('service-accounts.key') },
  };
}

export const serverUrl = ({ ports }: Layout): string => `https://127.0.0.1:${ports.apiServer}`;

export const storeUrl = ({ ports }: Layout): string => `http://127.0.0.1:${ports.etcd}`;
