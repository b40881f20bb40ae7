import { manifestFile, ownReleases, releases } from './releases.ts';

/** The names under which one product is migrated. */
export interface MigratedService {
  /** v3 group. */
  readonly group: string;
  readonly createdBy: readonly [key: string, value: string];
  readonly allowAllProfile: string;
  /** Its CLI. */
  readonly program: string;
  readonly release: string;
  readonly manifest: string;
  /** Artifact source. */
  readonly source: string;
  /** DaemonSet that new controllers wait for. */
  readonly agents: string;
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
