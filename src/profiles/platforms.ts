import type { ChainedPlugin, Platform } from '../kernel/profile.ts';

/** Platforms whose marks do not depend on the service (domain §2.4). */
export const commonPlatforms: readonly Platform[] = [
  {
    id: 'aks',
    title: 'AKS',
    hint: 'Upgrade the cluster through Azure: its add-on manager puts its own release back.',
    signs: [{ type: 'label', key: 'kubernetes.azure.com/managedby', value: 'aks' }],
  },
  {
    id: 'kops',
    title: 'kOps',
    hint: 'Set the networking release in the kOps cluster spec and run `kops update cluster`.',
    signs: [
      { type: 'label', key: 'app.kubernetes.io/managed-by', value: 'kops' },
      { type: 'label', key: 'addon.kops.k8s.io/name' },
    ],
  },
  {
    id: 'addon-manager',
    title: 'the add-on manager (GKE and others)',
    hint: 'Upgrade through the platform: its add-on manager reverts what it reconciles.',
    signs: [{ type: 'label', key: 'addonmanager.kubernetes.io/mode' }],
  },
  {
    id: 'k0s',
    title: 'k0s',
    hint: 'Upgrade k0s, or switch the cluster to a custom network provider first.',
    signs: [
      { type: 'label', key: 'k0s.k0sproject.io/stack' },
      { type: 'image', contains: 'quay.io/k0sproject/' },
    ],
  },
  {
    id: 'microk8s',
    title: 'MicroK8s',
    hint: 'Change the CNI manifest that MicroK8s keeps on its nodes, or upgrade the snap; else it applies its own again.',
    signs: [{ type: 'hostPath', prefix: '/var/snap/microk8s/' }],
  },
  {
    id: 'cluster-api',
    title: 'a Cluster API resource set',
    hint: 'Change the ClusterResourceSet (or HelmChartProxy) in the management cluster, or detach it first.',
    signs: [
      { type: 'annotation', key: 'addons.cluster.x-k8s.io/' },
      { type: 'label', key: 'addons.cluster.x-k8s.io/' },
    ],
  },
];

const outside = 'pods that start before its own DaemonSet has put it back are not in the mesh';

/** `install-cni` writes the whole list of plugins again when an agent starts (cni-plugin/pkg/install of Calico). */
export const commonChainedPlugins: readonly ChainedPlugin[] = [
  {
    ...{ title: 'Istio CNI', daemonSet: 'istio-cni-node', happens: outside },
    advice: 'Leave its repair controller on. After the upgrade restart pods of the mesh that started while agents were replaced.',
  },
  {
    ...{ title: 'Linkerd CNI', daemonSet: 'linkerd-cni', happens: outside },
    advice: 'Leave its repair controller on. After the upgrade restart pods of the mesh that started while agents were replaced.',
  },
  {
    ...{ title: 'Kuma CNI', daemonSet: 'kuma-cni', happens: outside },
    advice:
      'After the upgrade see that its plugin is in the list of each node again. Restart pods of the mesh that started while agents were replaced.',
  },
  {
    ...{ title: 'Consul CNI', daemonSet: 'consul-cni', happens: outside },
    advice:
      'After the upgrade see that its plugin is in the list of each node again. Restart pods of the mesh that started while agents were replaced.',
  },
  {
    title: 'Multus',
    daemonSet: 'multus',
    happens: 'the copy of the configuration that it made when it started may be an old one',
    advice: 'After the upgrade restart its DaemonSet, node by node, so that it reads the new configuration.',
  },
];
