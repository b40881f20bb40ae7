import type { ProcedureNames } from '../kernel/profile.ts';

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
