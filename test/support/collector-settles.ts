import type { Api } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { GROUP } from './owned-objects.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const NOBODY = { apiVersion: `${GROUP}/v3`, kind: 'GlobalNetworkSet', name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' };

/** Resolves when the garbage collector has taken an object whose owner does not exist, made last: it looks, and knows the service's group. */
export async function collectorSettles(api: Api): Promise<void> {
  const metadata = { name: 'canary', ownerReferences: [NOBODY] };
  await api.send('POST', PATH, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const names = async () => (await api.get<{ items: { metadata: { name: string } }[] }>(PATH)).items.map((one) => one.metadata.name);
  await until('the collector has taken an object without an owner', async () => !(await names()).includes('canary'), 90_000);
}

/** The same of a collector that has just started, and knows nothing of what went before: then everything that is to die, dies. */
export async function collectorStartsAnew({ api, restartControllerManager }: ControlPlane): Promise<void> {
  await restartControllerManager();
  await collectorSettles(api);
}
