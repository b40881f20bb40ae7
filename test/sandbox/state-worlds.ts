import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { storedIn } from '../support/chart-bench.ts';
import { definition, kindIn } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { type Changing, type IncidentWorld, on } from './incident.ts';
import { felix, laidOver, oldGateway, replaced, stored, windowsNode } from './incident-worlds.ts';
import { of } from './release-worlds.ts';

const OPERATOR = 'operator.tigera.io/v1';
const MIGRATION = 'migration.projectcalico.org';

/** Behind the server's back, of a kind that the ground has. */
const over =
  (kind: string, name: string, laid: Parameters<typeof laidOver>[2]): Changing =>
  (cluster) =>
    laidOver(kindIn(cluster, { apiVersion: OPERATOR, kind }), name, laid)(cluster);

/** Agents get an init container, as `kubectl edit` leaves it. */
function withInitContainer(name: string): Changing {
  return ({ store }) => {
    const live = store.list(K.DaemonSet).find(({ metadata }) => metadata.name === 'calico-node') ?? assert.fail('no agents');
    const text = JSON.stringify(live).replace(
      '"initContainers":[',
      `"initContainers":[{"name":"${name}","image":"docker.io/calico/cni:v3.27.5"},`,
    );
    store.update(K.DaemonSet, JSON.parse(text) as KubeObject);
  };
}

/** Served as `v1beta1` alone. */
function betaDefinition(): KubeObject {
  const text = JSON.stringify(definition(MIGRATION, 'DatastoreMigration')).replace('"name":"v1"', '"name":"v1beta1"');
  return JSON.parse(text) as KubeObject;
}

const mesh = objectOf('apps/v1', 'DaemonSet', 'istio-cni-node', {
  metadata: { namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { app: 'c' } },
    template: { metadata: { labels: { app: 'c' } }, spec: { containers: [{ name: 'c', image: 'c' }] } },
  },
});

/** As GKE does: pods of a critical class are admitted in kube-system alone. */
function refusesCriticalPods(cluster: SandboxCluster): void {
  const { dryRunCreate } = cluster;
  Object.assign(cluster, {
    dryRunCreate: async (...[kind, object]: Parameters<typeof dryRunCreate>) => {
      const { priorityClassName = '' } = (object.spec ?? {}) as { readonly priorityClassName?: string };
      if (kind.kind !== 'Pod' || !priorityClassName.startsWith('system-')) return dryRunCreate(kind, object);
      const words = 'insufficient quota to match these scopes: [{PriorityClass In [system-node-critical system-cluster-critical]}]';
      throw new ApiFailure(403, 'Forbidden', `pods "${object.metadata.name}" is forbidden: ${words}`);
    },
  });
}

/** What clusters bring along: states that somebody has left, and what the operator itself says. */
export const stateWorlds: Readonly<Record<string, IncidentWorld>> = {
  'the new operator completes a deletion that somebody began months ago': on('operator', of('calico#9066'))
    .after(
      over('Installation', 'default', {
        metadata: { deletionTimestamp: '2026-05-04T08:10:00Z', finalizers: ['tigera.io/operator-cleanup'] },
      }),
    )
    .stops('NS-114', /Installation\/default: being deleted since 2026-05-04T08:10:00Z; it waits for tigera\.io\/operator-cleanup/),
  'a migration to native CRDs is under way': on('operator', of('docs#2907'))
    .after(
      betaDefinition(),
      objectOf(`${MIGRATION}/v1beta1`, 'DatastoreMigration', 'v1-to-v3', { spec: {}, status: { phase: 'Migrating' } }),
    )
    .stops('NS-115', /DatastoreMigration\/v1-to-v3: migration to native CRDs in phase Migrating[\s\S]*Never delete its CRD/),
  'the datastore was left locked': on('calico', of('k8scloudconfig#941'))
    .after((cluster) => {
      const kind = kindIn(cluster, { apiVersion: 'crd.projectcalico.org/v1', kind: 'ClusterInformation' });
      const live = cluster.store.get(kind, 'default');
      const spec = { calicoVersion: 'v3.27.5', datastoreReady: false };
      const object = objectOf('crd.projectcalico.org/v1', 'ClusterInformation', 'default', { spec });
      if (live) cluster.store.update(kind, { ...live, spec });
      else cluster.store.insert(kind, object);
    })
    .stops('NS-115', /ClusterInformation\/default: the datastore is locked[\s\S]*calicoctl datastore migrate unlock/),
  'each start of an agent moves allocations of another plugin': on('calico', of('calico#11702'))
    .after(replaced(K.ConfigMap, 'calico-config', /calico-ipam/g, 'host-local'), withInitContainer('upgrade-ipam'))
    .stops('NS-115', /ConfigMap\/kube-system\/calico-config: cni_network_config has ipam type host-local/),
  'the operator is stuck already': on('operator', of('operator#4530'))
    .after(
      over('TigeraStatus', 'calico', {
        status: {
          conditions: [
            { type: 'Available', status: 'True' },
            { type: 'Progressing', status: 'False' },
            {
              type: 'Degraded',
              status: 'True',
              reason: 'InvalidConfigurationError',
              message: 'provider EKS in the spec, OpenShift was detected',
            },
          ],
        },
      }),
    )
    .stops('NS-429', /TigeraStatus\/calico[\s\S]*InvalidConfigurationError: provider EKS in the spec, OpenShift was detected/),
  'a mesh has put its plugin into the CNI configuration': on('calico', of('istio#57432'))
    .after(mesh)
    .warns('NS-430', /DaemonSet\/kube-system\/istio-cni-node: Istio CNI/),
  'route reflectors are chosen by a label that Kubernetes has removed': on('calico', of('You-Broke-Reddit'))
    .after(
      stored('BGPConfiguration', 'default', { nodeToNodeMeshEnabled: false }),
      stored('IPPool', 'pods', { cidr: '10.244.0.0/16', ipipMode: 'Always' }),
      stored('BGPPeer', 'to-reflectors', { nodeSelector: 'all()', peerSelector: 'has(node-role.kubernetes.io/master)' }),
    )
    .stops('NS-509', /BGPPeer\/to-reflectors[\s\S]*peerSelector has\(node-role\.kubernetes\.io\/master\) selects none/),
  'definitions of the Gateway API lack a kind that the new gateway needs': on('operator', of('calico#13366'))
    .after(...oldGateway)
    .warns('NS-626', /gateways\.gateway\.networking\.k8s\.io/),
  'node ports of a node refuse connections while its agent restarts': on('calico', of('calico#12192'))
    .after(felix({ bpfEnabled: true }))
    .warns('NS-507', /eBPF/),
  'a node cannot be drained beside the one Typha': on('typha', of('calico#4718'))
    .after(laidOver(K.PodDisruptionBudget, 'calico-typha', { status: { expectedPods: 1, disruptionsAllowed: 0 } }))
    .warns('NS-409', /PodDisruptionBudget\/kube-system\/calico-typha/),
  'agents of Windows nodes are not upgraded with the others': on('calico', of('calico#11109'))
    .after(({ store }) => store.insert(K.Node, windowsNode))
    .warns('NS-426', /win-01/),
  'the chart of that name is another vendor’s': on('chart', of('operator#3076'))
    .after(({ store }) => {
      const chart = { metadata: { name: 'tigera-operator', version: '2.4.1' } };
      for (const one of storedIn({ stored: { chart } })) store.update(K.Secret, one);
    })
    .stops('NS-246', /2\.4\.1/),
  'a quota keeps critical pods out of the namespace of the agents': on('operator', of('operator#1428'))
    .after(({ store }) => {
      const live = store.list(K.DaemonSet).find(({ metadata }) => metadata.namespace === 'calico-system') ?? assert.fail('no agents');
      const text = JSON.stringify(live)
        .replace(/"priorityClassName":"[^"]*",?/, '')
        .replace('"containers":[', '"priorityClassName":"calico-priority","containers":[');
      store.update(K.DaemonSet, JSON.parse(text) as KubeObject);
    }, refusesCriticalPods)
    .stops('NS-610', /insufficient quota to match these scopes[\s\S]*kubectl -n calico-system get resourcequotas/),
  'agents mount what has to be shared on the node': on('operator', of('calico#11764')).notes(
    'NS-902',
    /from v3\.31\.0 on the agents mount \/sys of each node without eBPF too/,
  ),
};
