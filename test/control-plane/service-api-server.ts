import { isDeepStrictEqual } from 'node:util';
import { serveAggregatedApi } from './aggregated-api.ts';
import { isServed } from './aggregation.ts';
import type { Api } from './api.ts';
import { playClusterNetwork } from './cluster-network.ts';
import type { ControlPlane } from './control-plane.ts';
import { playByLooking } from './played.ts';
import type { ServerRule } from './service-objects.ts';
import { until } from './until.ts';
import { runningImage, workload } from './workloads.ts';

export type ServiceApiServer = Awaited<ReturnType<typeof playServiceApiServer>>;

const LOOK_EVERY_MS = 100;
const GROUP = 'projectcalico.org';
/** Its namespace and its Deployment have one name. */
const NAME = 'calico-apiserver';

/**
 * Plays the API server that an installed `apiserver.yaml` asks for: behind its Service, registered by its APIService, and by the
 * rules of the release whose pods run. Resolves once it is available. Needs a control plane with `clusterNetwork`.
 */
export async function playServiceApiServer(plane: ControlPlane) {
  const served = await serveAggregatedApi(plane.access, GROUP, [`calico-api.${NAME}.svc`]);
  const network = await playClusterNetwork(plane.clusterNetwork, served.port);
  const following = playByLooking(LOOK_EVERY_MS, async () => {
    const rule = await runningRule(plane.api);
    if (rule && !isDeepStrictEqual(rule, served.rule)) served.serve(rule);
  });
  const apiService = `/apis/apiregistration.k8s.io/v1/apiservices/v3.${GROUP}`;
  // The published manifest leaves the authority to whoever installs it.
  await plane.api.send('PATCH', apiService, { spec: { caBundle: Buffer.from(served.authority).toString('base64') } });
  await until(`v3.${GROUP} is available`, () => isServed(plane.api, GROUP));
  return {
    served,
    async stop() {
      await following.stop();
      await network.stop();
      await served.stop();
    },
  };
}

/** Undefined while its pods are being replaced: the old ones go on serving. */
async function runningRule(api: Api): Promise<ServerRule | undefined> {
  const deployment = await workload(api, NAME, `deployments/${NAME}`);
  const image = deployment && runningImage(deployment);
  return image === undefined ? undefined : ruleOf(image);
}

/** v3.27.5 converts UIDs and is the only one of its line that does; policies keep their own names from v3.32 on. */
function ruleOf(image: string): ServerRule {
  const [, minor = 0, patch = 0] = (/:v3\.(\d+)\.(\d+)/.exec(image) ?? []).map(Number);
  return { convertsUids: minor >= 28 || (minor === 27 && patch >= 5), prefixesPolicies: minor < 32, translatesOwners: minor >= 28 };
}
