import { type AggregatedApi, serveAggregatedApi } from '../control-plane/aggregated-api.ts';
import { type Conditioned, isAvailable, isServed, register } from '../control-plane/aggregation.ts';
import { find } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type OperatorManner, playOperator } from '../control-plane/operator.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { until } from '../control-plane/until.ts';

/** A played operator, the agents that it brings, and the v3 API server, played too. */
export interface PlayedService {
  /** When the operator last changed anything; milliseconds. */
  changedAt(): number;
  /** Resolves once the installed operator has brought its release, and, where it is wanted, the v3 API. */
  brought(wanted: { readonly apiServer: boolean }): Promise<AggregatedApi | undefined>;
  /** Before the control plane is stopped. */
  stop(): Promise<void>;
}

const OPERATOR = '/apis/operator.tigera.io/v1';

export function playService(plane: ControlPlane, manner: OperatorManner): PlayedService {
  const operator = playOperator(plane.api, manner);
  const agents = simulateService(plane.api, CALICO);
  let apiServer: AggregatedApi | undefined;
  return {
    changedAt: operator.changedAt,
    async brought(wanted) {
      // An operator before v3.25 does not report its release.
      await untilRuns(plane, 'calico');
      await agents.settled();
      if (wanted.apiServer) apiServer = await installApiServer(plane);
      return apiServer;
    },
    async stop() {
      await Promise.all([operator.stop(), agents.stop()]);
      await apiServer?.stop();
    },
  };
}

const untilRuns = ({ api }: ControlPlane, component: string) =>
  until(`${component} runs`, async () => isAvailable(await find<Conditioned>(api, `${OPERATOR}/tigerastatuses/${component}`)));

/** The v3 API as releases before v3.32 have it: in a namespace of its own. Ends when the operator says that it is there. */
async function installApiServer(plane: ControlPlane): Promise<AggregatedApi> {
  const { api, access } = plane;
  const [group, namespace, service] = ['projectcalico.org', 'calico-apiserver', 'calico-api'];
  const hosts = [`${service}.${namespace}.svc`, `${service}.calico-system.svc`, 'localhost', '127.0.0.1'];
  const served = await serveAggregatedApi(access, group, hosts);
  await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await register(api, { ...served, namespace, service });
  const wanted = { apiVersion: 'operator.tigera.io/v1', kind: 'APIServer', metadata: { name: 'default' }, spec: {} };
  await api.send('POST', `${OPERATOR}/apiservers`, wanted);
  await untilRuns(plane, 'apiserver');
  await until('the v3 API is served', () => isServed(api, group));
  return served;
}
