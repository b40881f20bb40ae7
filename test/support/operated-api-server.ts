import { type AggregatedApi, serveAggregatedApi } from '../control-plane/aggregated-api.ts';
import { type Conditioned, isAvailable } from '../control-plane/available.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { serviceOf } from '../control-plane/operated-api.ts';
import { find } from '../control-plane/operated-components.ts';
import { until } from '../control-plane/until.ts';

const GROUP = 'projectcalico.org';
const NAMESPACE = 'calico-apiserver';
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

/** The v3 API as releases before v3.32 have it: in a namespace of its own. Ends when the operator says that it is there. */
export async function installApiServer({ api, access }: Pick<ControlPlane, 'api' | 'access'>): Promise<AggregatedApi> {
  const hosts = [`calico-api.${NAMESPACE}.svc`, 'calico-api.calico-system.svc', 'localhost', '127.0.0.1'];
  const served = await serveAggregatedApi({ behind: access, group: GROUP, hosts });
  await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await api.send('POST', `/api/v1/namespaces/${NAMESPACE}/services`, serviceOf(served.port));
  await api.send('POST', SERVICES, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v3.${GROUP}` },
    spec: {
      group: GROUP,
      version: 'v3',
      groupPriorityMinimum: 1500,
      versionPriority: 200,
      caBundle: Buffer.from(served.authority).toString('base64'),
      service: { name: 'calico-api', namespace: NAMESPACE, port: served.port },
    },
  });
  const operator = '/apis/operator.tigera.io/v1';
  await api.send('POST', `${operator}/apiservers`, {
    apiVersion: 'operator.tigera.io/v1',
    kind: 'APIServer',
    metadata: { name: 'default' },
    spec: {},
  });
  await until('the API server runs', async () => isAvailable(await find<Conditioned>(api, `${operator}/tigerastatuses/apiserver`)));
  await until('the v3 API is served', async () => isAvailable(await api.get<Conditioned>(`${SERVICES}/v3.${GROUP}`)));
  return served;
}
