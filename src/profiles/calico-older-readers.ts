import type { OlderReaders } from '../kernel/profile.ts';

const POLICIES = ['GlobalNetworkPolicy', 'NetworkPolicy'];
const FORMATTED = ['knp.default.', 'kanp.adminnetworkpolicy.', 'ossg.'];

/**
 * What the CLI shows was tried with v3.32.1 and etcd. Read in libcalico-go of each release: `convertPolicyNameForStorage`, `TieredPolicyName` and `determinePolicyName` (names),
 * `ConvertK8sResourceToCalicoResource` (labels), `TierFromPolicyName` (tiers), `loadBalancerAffinityHost` (blocks).
 */
export const calicoOlderReaders: OlderReaders = {
  ownMetadataBefore: 'v3.28.0',
  withoutLabels: ['blockaffinities', 'ipamblocks', 'ipamconfigs', 'ipamhandles'],
  policyNames: [
    { since: 'v3.0.0', shows: 'cut', kinds: POLICIES, unprefixed: ['knp.', 'ossg.'] },
    { since: 'v3.29.0', shows: 'stored', kinds: POLICIES, unprefixed: FORMATTED },
    { since: 'v3.29.4', shows: 'noted', kinds: POLICIES, unprefixed: FORMATTED },
    {
      since: 'v3.30.0',
      shows: 'noted',
      kinds: [...POLICIES, 'StagedGlobalNetworkPolicy', 'StagedNetworkPolicy'],
      unprefixed: [...FORMATTED, 'kbanp.baselineadminnetworkpolicy.'],
    },
  ],
  tiersSince: 'v3.29.0',
  newBlocks: { since: 'v3.30.0', plural: 'ipamblocks', affinity: 'virtual:', pools: 'LoadBalancer', use: 'services of type LoadBalancer' },
  kindsBeside: [{ group: 'policy.networking.k8s.io', plural: 'clusternetworkpolicies' }],
  shownByCli: [
    ...['bgpconfigurations', 'bgpfilters', 'bgppeers', 'felixconfigurations', 'globalnetworkpolicies', 'globalnetworksets'],
    ...['hostendpoints', 'ippools', 'ipreservations', 'kubecontrollersconfigurations', 'networkpolicies', 'networksets'],
  ],
  losesNothing: {
    kinds: [
      ...['blockaffinities', 'ipamblocks', 'ipamhandles', 'clusterinformations', 'caliconodestatuses'],
      // Tiers by the policies in them; staged policies only show what they would do.
      ...['tiers', 'stagedglobalnetworkpolicies', 'stagedkubernetesnetworkpolicies', 'stagednetworkpolicies'],
    ],
    fields: ['tier', 'performanceHints', 'controllers.policyMigration'],
    // Where there is no configuration of the controllers, those of v3.32 create one (`NewDefaultKubeControllersConfig`).
    values: { 'controllers.node.hostEndpoint.createDefaultHostEndpoint': 'Enabled', 'controllers.node.leakGracePeriod': '15m0s' },
  },
};
