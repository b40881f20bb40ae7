import { serviceOf } from './aggregation.ts';
import { type Api, find } from './api.ts';
import { createWorkload, NAMESPACE, type Wanted } from './operated-components.ts';
import { writeStatus } from './operated-statuses.ts';
import { workload } from './workloads.ts';

/** Where the API server was before v3.32, and its APIService. */
const OLD_NAMESPACE = 'calico-apiserver';
const SERVICE = '/apis/apiregistration.k8s.io/v1/apiservices/v3.projectcalico.org';
const NAME = 'calico-api';
const COMPONENT = 'deployments/calico-apiserver';

interface ApiServerWanted extends Pick<Wanted, 'tag' | 'registry'> {
  readonly isNew: boolean;
  /** Waited for once the APIService points to the new namespace, before there is a server. */
  readonly moved: () => Promise<void>;
}

/**
 * Where an APIServer is wanted and its APIService is there: the new operator turns the APIService to its own namespace at once, has the
 * old namespace deleted in the same moment, and the v3 API is away until the new pods are ready.
 */
export async function playApiServer(api: Api, { tag, registry, isNew, moved }: ApiServerWanted): Promise<void> {
  const wanted = await find(api, '/apis/operator.tigera.io/v1/apiservers/default');
  const registered = await find<Registered>(api, SERVICE);
  if (!wanted || !registered) return;
  const namespace = isNew ? NAMESPACE : OLD_NAMESPACE;
  if (registered.spec.service.namespace !== namespace) {
    await api.send('PATCH', SERVICE, { spec: { service: { namespace } } });
    await api.send('DELETE', `/api/v1/namespaces/${OLD_NAMESPACE}`);
    await moved();
  }
  // The new pods take longer than everything else.
  const annotations = isNew ? { 'netsvc-upgrade.test/ready-after': '25s' } : {};
  const container = { name: 'calico-apiserver', image: `${registry}calico/apiserver:${tag}` };
  const live = await workload(api, namespace, COMPONENT);
  if (!live) await createWorkload(api, namespace, COMPONENT, container, { annotations });
  const ready = live?.status?.availableReplicas === 1;
  // Its pods answer, in the test ground, by the Service alone.
  const { port } = registered.spec.service;
  if (ready && !(await find(api, `/api/v1/namespaces/${namespace}/services/${NAME}`)))
    await api.send('POST', `/api/v1/namespaces/${namespace}/services`, serviceOf(NAME, port));
  const why = ready ? '' : `"${namespace}/calico-apiserver" is not available`;
  await writeStatus(api, 'apiserver', { generation: wanted.metadata.generation, why });
}

interface Registered {
  readonly spec: { readonly service: { readonly namespace: string; readonly port: number } };
}
