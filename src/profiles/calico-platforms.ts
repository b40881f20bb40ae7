import type { Platform } from '../kernel/profile.ts';
import { commonPlatforms } from './platforms.ts';

/** Platforms that ship Project Calico themselves (domain §2.4). */
export const calicoPlatforms: readonly Platform[] = [
  {
    id: 'rke2',
    title: 'RKE2',
    hint: 'Upgrade RKE2, or change its HelmChartConfig: its chart controller applies its own release again.',
    signs: [
      { type: 'chartRelease', prefix: 'rke2-' },
      { type: 'annotation', key: 'meta.helm.sh/release-name', value: 'rke2-' },
      { type: 'workload', kind: 'DaemonSet', name: 'rke2-canal' },
      { type: 'image', contains: 'rancher/hardened-calico' },
      { type: 'image', contains: 'rancher/mirrored-calico-' },
    ],
  },
  {
    id: 'rke1',
    title: 'RKE1',
    hint: 'Upgrade through RKE: `rke up` applies its own network plugin again.',
    signs: [
      { type: 'configMap', name: 'rke-network-plugin' },
      { type: 'image', contains: 'rancher/calico-' },
    ],
  },
  {
    id: 'kubespray',
    title: 'kubespray',
    hint: 'Set calico_version in the inventory and run its upgrade playbook; the next run puts its own release back.',
    signs: [{ type: 'configMapKey', key: 'cluster_type', contains: 'kubespray' }],
  },
  {
    id: 'openshift',
    title: 'OpenShift',
    hint: 'Use the upgrade manifest for OpenShift (tigera-operator-ocp-upgrade.yaml), not the plain one.',
    signs: [{ type: 'crd', name: 'clusterversions.config.openshift.io' }],
  },
  ...commonPlatforms,
];
