import { type AggregatedApi, serveAggregatedApi } from './aggregated-api.ts';
import type { Api, ApiAccess } from './api.ts';
import { type Conditioned, isAvailable } from './available.ts';
import { until } from './until.ts';

const SPACE = 'kube-system';
const SERVICE = 'played-api';
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

/**
 * Starts a played API server of the service and registers it: the control plane then serves `v3` of the group, and its garbage
 * collector sees owners there. Endpoints may not be loopback addresses, a Service of type ExternalName is dialled directly.
 */
export async function aggregate(plane: { readonly api: Api; readonly access: ApiAccess }, group: string): Promise<AggregatedApi> {
  const { api, access } = plane;
  const hosts = [`${SERVICE}.${SPACE}.svc`, 'localhost', '127.0.0.1'];
  const served = await serveAggregatedApi({ behind: access, group, hosts });
  const port = { port: served.port, protocol: 'TCP' };
  await api.send('POST', `/api/v1/namespaces/${SPACE}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [port] },
  });
  const name = `v3.${group}`;
  await api.send('POST', SERVICES, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name },
    spec: {
      group,
      version: 'v3',
      groupPriorityMinimum: 1500,
      versionPriority: 200,
      caBundle: Buffer.from(served.authority).toString('base64'),
      service: { name: SERVICE, namespace: SPACE, port: served.port },
    },
  });
  await until(`${name} is available`, async () => isAvailable(await api.get<Conditioned>(`${SERVICES}/${name}`)));
  return served;
}
