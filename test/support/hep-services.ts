import type { EndpointManner } from '../control-plane/host-endpoint-sync.ts';
import { manifestFile, ownReleases, releases } from './releases.ts';

/** The names under which one product is migrated, its CLI, and the release to which it is upgraded. */
export interface MigratedService extends Pick<EndpointManner, 'group' | 'createdBy' | 'allowAllProfile' | 'agents'> {
  readonly program: string;
  readonly release: string;
  readonly manifest: string;
  /** Artifact source. */
  readonly source: string;
}

export const NETSVC_FLEET: MigratedService = {
  group: 'netsvc.io',
  createdBy: ['netsvc.io/created-by', 'netsvc-kube-controllers'],
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
