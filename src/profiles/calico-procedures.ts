import type { ChainedPlugin, ProcedureNames } from '../kernel/profile.ts';

export const calicoProcedures: ProcedureNames = {
  lock: { field: 'datastoreReady', unlock: ['datastore', 'migrate', 'unlock'] },
  migration: {
    group: 'migration.projectcalico.org',
    version: 'v1beta1',
    kind: 'DatastoreMigration',
    plural: 'datastoremigrations',
    namespaced: false,
  },
  takeOver: {
    label: 'projectcalico.org/node-network-during-migration',
    done: 'calico',
    working: 'projectcalico.org/node-flannel-migration-in-progress',
    configMap: 'flannel-migration-config',
  },
  allocations: { container: 'upgrade-ipam', key: 'cni_network_config', plugin: 'host-local' },
  needed: ['ippools', 'felixconfigurations', 'bgpconfigurations', 'clusterinformations', 'kubecontrollersconfigurations', 'tiers'],
  ebpf: { annotation: 'operator.tigera.io/bpfEnabled', since: 'v3.28.0', dataPlane: 'BPF' },
};

const outside = 'pods that start before its own DaemonSet has put it back are not in the mesh';

/** `install-cni` writes the whole list of plugins again when an agent starts (cni-plugin/pkg/install). */
export const calicoChainedPlugins: readonly ChainedPlugin[] = [
  {
    ...{ title: 'Istio CNI', daemonSet: 'istio-cni-node', happens: outside },
    advice: 'Leave its repair controller on. After the upgrade restart pods of the mesh that started while agents were replaced.',
  },
  {
    ...{ title: 'Linkerd CNI', daemonSet: 'linkerd-cni', happens: outside },
    advice: 'Leave its repair controller on. After the upgrade restart pods of the mesh that started while agents were replaced.',
  },
  {
    title: 'Multus',
    daemonSet: 'multus',
    happens: 'the copy of the configuration that it made when it started may be an old one',
    advice: 'After the upgrade restart its DaemonSet, node by node, so that it reads the new configuration.',
  },
];
