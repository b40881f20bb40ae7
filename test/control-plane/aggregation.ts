import { type AggregatedApi, serveAggregatedApi } from './aggregated-api.ts';
import type { Api, ApiAccess } from './api.ts';
import { until } from './until.ts';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

/** What says of itself whether it works: an APIService, a component's status. */
export interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] };
}

/** False where it says nothing yet, or is not there; throws with what it says where it is not available. */
export function isAvailable(live: Conditioned | undefined): boolean {
  const available = live?.status?.conditions?.find(({ type }) => type === 'Available');
  if (available && available.status !== 'True') throw new Error(available.message ?? 'not available');
  return available?.status === 'True';
}

interface Registered {
  readonly group: string;
  /** A port of this machine. */
  readonly port: number;
  readonly namespace: string;
  readonly service: string;
  /** Who signed its certificate; nobody looks unless said. */
  readonly authority?: string;
}

/** A Service that leads to a port of this machine: endpoints may not be loopback addresses, type ExternalName is dialled directly. */
export function serviceOf(name: string, port: number): object {
  const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port, protocol: 'TCP' }] };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
}

/** Registers an API server of this machine as `v3` of a group. */
export async function register(api: Api, { group, port, namespace, service: name, authority }: Registered): Promise<void> {
  await api.send('POST', `/api/v1/namespaces/${namespace}/services`, serviceOf(name, port));
  const trust = authority === undefined ? { insecureSkipTLSVerify: true } : { caBundle: Buffer.from(authority).toString('base64') };
  await api.send('POST', SERVICES, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v3.${group}` },
    spec: { group, version: 'v3', groupPriorityMinimum: 1500, versionPriority: 200, ...trust, service: { name, namespace, port } },
  });
}

/** Whether `v3` of the group is served; throws with what the control plane says where it is not. */
export async function isServed(api: Api, group: string): Promise<boolean> {
  return isAvailable(await api.get<Conditioned>(`${SERVICES}/v3.${group}`));
}

/**
 * Starts a played API server of the service and registers it: the control plane then serves `v3` of the group, and its garbage
 * collector sees owners there.
 */
export async function aggregate({ api, access }: { readonly api: Api; readonly access: ApiAccess }, group: string): Promise<AggregatedApi> {
  const [namespace, service] = ['kube-system', 'played-api'];
  const served = await serveAggregatedApi(access, group, [`${service}.${namespace}.svc`, 'localhost', '127.0.0.1']);
  await register(api, { ...served, group, namespace, service });
  await until(`v3.${group} is available`, () => isServed(api, group));
  return served;
}
