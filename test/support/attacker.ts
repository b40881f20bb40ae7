import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { STATE_TYPE } from '../../src/adapters/state/ledger.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** An account of the cluster with these rights in one namespace, and no others. */
export interface Attacker {
  /** Everything as that account. */
  readonly cluster: Cluster;
  /** The same, in which what is asked of Secrets is done to ConfigMaps: so the program's own code forges its state where the account may write. */
  readonly inConfigMaps: Cluster;
  close(): Promise<void>;
}

export async function attacker(
  plane: ControlPlane,
  name: string,
  resources: readonly string[],
  namespace = 'kube-system',
): Promise<Attacker> {
  const roles = `/apis/${GROUP}/v1/namespaces/${namespace}`;
  const rules = [{ apiGroups: ['', 'coordination.k8s.io'], resources, verbs: ['*'] }];
  await plane.api.send('POST', `${roles}/roles`, { apiVersion: `${GROUP}/v1`, kind: 'Role', metadata: { name }, rules });
  await plane.api.send('POST', `${roles}/rolebindings`, {
    apiVersion: `${GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: GROUP, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
  });
  const as = `system:serviceaccount:default:${name}`;
  const connection = await readConnection({ kubeconfig: plane.kubeconfigPath, as }, process.env);
  const cluster = openCluster(connection, { version: 'test' });
  return { cluster, inConfigMaps: inConfigMaps(cluster), close: () => cluster.close() };
}

function inConfigMaps(cluster: Cluster): Cluster {
  const asMap = ({ metadata, data }: KubeObject): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, binaryData: data });
  const asSecret = ({ metadata, binaryData }: KubeObject): KubeObject =>
    ({ apiVersion: 'v1', kind: 'Secret', type: STATE_TYPE, metadata, data: binaryData }) as KubeObject;
  return {
    ...cluster,
    async get(_, ...asked) {
      const map = await cluster.get(K.ConfigMap, ...asked);
      return map && asSecret(map);
    },
    async list(_, { fieldSelector: __, ...options } = {}) {
      const maps = await cluster.list(K.ConfigMap, options);
      return maps.filter(({ metadata }) => metadata.name.startsWith('netsvc-upgrade-')).map(asSecret);
    },
    create: async (_, object) => asSecret(await cluster.create(K.ConfigMap, asMap(object))),
    replace: async (_, object) => asSecret(await cluster.replace(K.ConfigMap, asMap(object))),
    remove: (_, ref) => cluster.remove(K.ConfigMap, { ...ref, kind: 'ConfigMap' }),
  };
}
