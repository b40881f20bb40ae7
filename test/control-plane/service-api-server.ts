import { type AggregatedApi, serveAggregatedApi } from './aggregated-api.ts';
import { isServed } from './aggregation.ts';
import { ApiError } from './api.ts';
import { playClusterNetwork } from './cluster-network.ts';
import type { ControlPlane } from './control-plane.ts';
import type { ServerRule } from './service-objects.ts';
import { until } from './until.ts';

/** The service's API server as its own manifest (`apiserver.yaml`) installs it. */
export interface ApiServerNames {
  /** `projectcalico.org`. */
  readonly group: string;
  readonly namespace: string;
  readonly deployment: string;
  readonly service: string;
}

export const CALICO_API: ApiServerNames = {
  group: 'projectcalico.org',
  namespace: 'calico-apiserver',
  deployment: 'calico-apiserver',
  service: 'calico-api',
};

export interface ServiceApiServer {
  readonly served: AggregatedApi;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 100;

/**
 * Plays the API server that an installed `apiserver.yaml` asks for: behind its Service, registered by its APIService, and by the
 * rules of the release whose pods run. Resolves once it is available. Needs a control plane with `clusterNetwork`.
 */
export async function playServiceApiServer(plane: ControlPlane, names: ApiServerNames): Promise<ServiceApiServer> {
  const { group, namespace, service } = names;
  const served = await serveAggregatedApi({ behind: plane.access, group, hosts: [`${service}.${namespace}.svc`] });
  const network = await playClusterNetwork(plane.clusterNetwork, () => served.port);
  const end = new AbortController();
  const following = follow(plane, names, served, end.signal);
  const apiService = `/apis/apiregistration.k8s.io/v1/apiservices/v3.${group}`;
  // The published manifest leaves the authority to whoever installs it.
  await plane.api.send('PATCH', apiService, { spec: { caBundle: Buffer.from(served.authority).toString('base64') } });
  await until(`v3.${group} is available`, () => isServed(plane.api, group));
  return {
    served,
    async stop() {
      end.abort();
      await following;
      await network.stop();
      await served.stop();
    },
  };
}

async function follow(plane: ControlPlane, names: ApiServerNames, served: AggregatedApi, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const rule = await runningRule(plane, names);
    if (rule && !sameRule(rule, served.rule)) served.serve(rule);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

const sameRule = (one: ServerRule, other: ServerRule): boolean =>
  one.convertsUids === other.convertsUids &&
  one.prefixesPolicies === other.prefixesPolicies &&
  one.translatesOwners === other.translatesOwners;

interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } };
  readonly status?: { readonly observedGeneration?: number; readonly updatedReplicas?: number; readonly availableReplicas?: number };
}

/** Undefined while its pods are being replaced, and while nobody can say: the old ones go on serving. */
async function runningRule({ api }: ControlPlane, { namespace, deployment }: ApiServerNames): Promise<ServerRule | undefined> {
  try {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}`;
    const { metadata, spec, status = {} } = await api.get<Deployment>(path);
    const isReplaced = (status.observedGeneration ?? 0) < metadata.generation || !status.updatedReplicas || !status.availableReplicas;
    return isReplaced ? undefined : ruleOf(spec.template.spec.containers[0]?.image ?? '');
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status !== 404 && thrown.status < 500) throw thrown;
    return undefined;
  }
}

/** v3.27.5 converts UIDs and is the only one of its line that does; policies keep their own names from v3.32 on. */
export function ruleOf(image: string): ServerRule {
  const [, minor = 0, patch = 0] = (/:v3\.(\d+)\.(\d+)/.exec(image) ?? []).map(Number);
  return { convertsUids: minor >= 28 || (minor === 27 && patch >= 5), prefixesPolicies: minor < 32, translatesOwners: minor >= 28 };
}
