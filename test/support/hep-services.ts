import { manifestFile, ownReleases, releases } from './releases.ts';

/** The names under which one product is migrated, its CLI, and the release to which it is upgraded. */
export type MigratedService = typeof NETSVC_FLEET;

export const NETSVC_FLEET = {
  group: 'netsvc.io',
  createdBy: ['netsvc.io/created-by', 'netsvc-kube-controllers'] as readonly [string, string],
  allowAllProfile: 'netsvc-default-allow',
  program: 'netsvcctl',
  release: 'v3.32.2',
  manifest: manifestFile('v3.32.2', 'netsvc.yaml', ownReleases),
  source: ownReleases,
  agents: 'netsvc-node',
};

export const CALICO_FLEET: MigratedService = {
  group: 'projectcalico.org',
  createdBy: ['projectcalico.org/created-by', 'calico-kube-controllers'],
  allowAllProfile: 'projectcalico-default-allow',
  program: 'calicoctl',
  release: 'v3.32.1',
  manifest: manifestFile('v3.32.1', 'calico.yaml'),
  source: releases,
  agents: 'calico-node',
};
