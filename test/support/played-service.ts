import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import { type Conditioned, isAvailable } from '../control-plane/available.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { find } from '../control-plane/operated-components.ts';
import { type OperatorManner, playOperator } from '../control-plane/operator.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { until } from '../control-plane/until.ts';
import { installApiServer } from './operated-api-server.ts';

/** A played operator, the agents that it brings, and the v3 API server, played too. */
export interface PlayedService {
  /** When the operator last changed anything; milliseconds. */
  changedAt(): number;
  /** Resolves once the installed operator has brought its release, and, where it is wanted, the v3 API. */
  brought(wanted: { readonly apiServer: boolean }): Promise<AggregatedApi | undefined>;
  /** Before the control plane is stopped. */
  stop(): Promise<void>;
}

const STATUS = '/apis/operator.tigera.io/v1/tigerastatuses/calico';

export function playService(plane: ControlPlane, manner: OperatorManner): PlayedService {
  const operator = playOperator(plane.api, manner);
  const agents = simulateService(plane.api, CALICO);
  let apiServer: AggregatedApi | undefined;
  return {
    changedAt: operator.changedAt,
    async brought(wanted) {
      // An operator before v3.25 does not report its release.
      await until('the old release runs', async () => isAvailable(await find<Conditioned>(plane.api, STATUS)));
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
