import { manifestFile, ownReleases, releases } from './releases.ts';
import { CALICO_TARGET, NETSVC_TARGET } from './target.ts';

/** The names under which one product is migrated, its CLI, and the release to which it is upgraded. */
export type MigratedService = typeof NETSVC_FLEET;

export const NETSVC_FLEET = {
  group: 'netsvc.io',
  createdBy: ['netsvc.io/created-by', 'netsvc-kube-controllers'] as readonly [string, string],
  allowAllProfile: 'netsvc-default-allow',
  program: 'netsvcctl',
  release: NETSVC_TARGET,
  manifest: manifestFile(NETSVC_TARGET, 'netsvc.yaml', ownReleases),
  source: ownReleases,
  agents: 'netsvc-node',
};

export const CALICO_FLEET: MigratedService = {
  group: 'projectcalico.org',
  createdBy: ['projectcalico.org/created-by', 'calico-kube-controllers'],
  allowAllProfile: 'projectcalico-default-allow',
  program: 'calicoctl',
  release: CALICO_TARGET,
  manifest: manifestFile(CALICO_TARGET, 'calico.yaml'),
  source: releases,
  agents: 'calico-node',
};
