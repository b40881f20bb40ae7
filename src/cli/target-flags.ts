import { INSTALL_PATHS } from '../kernel/installation.ts';
import { BOTH_WAYS, CONNECTED, carried, partOf, repeatable, type Table } from './flag.ts';

/** What is upgraded to, and where files are and go. A run that is continued is given them again. */

/** For a rollback as well. */
const bothWays = { on: BOTH_WAYS } as const;
const recorded = { ...carried, recorded: true } as const;
/** What is applied, started or believed, where credentials go; paths, which another machine's record may name, among it. */
const trusted = { ...carried, decidesTrust: true } as const;
const trustedOfRun = { ...trusted, recorded: true } as const;
/** What commands know that look at a run. */
const ofRun = { ...recorded, on: CONNECTED } as const;
const file = { file: true, helpValue: 'FILE' } as const;
const folder = { file: true, helpValue: 'DIR' } as const;

export const targetFlags = {
  profile: {
    ...ofRun,
    helpValue: 'NAME',
    summary: 'names of the service: netsvc or calico; default: found in the cluster',
    as: { permissions: { summary: 'names of the service; default: those of the cluster' } },
  },
  release: {
    ...ofRun,
    on: CONNECTED.filter((name) => name !== 'rollback'),
    helpValue: 'TAG',
    summary: 'release to upgrade to; default: the profile’s',
    as: { permissions: { summary: 'release whose names to use; default: the profile’s' } },
  },
  path: {
    option: 'path',
    ...recorded,
    ...bothWays,
    options: INSTALL_PATHS,
    summary: 'install path, if detection cannot tell',
    as: {
      permissions: { summary: 'install path; default: that of the cluster' },
      path: { summary: 'install path; default: as detected, without a cluster manifest' },
    },
  },
  variant: {
    option: 'variant',
    ...recorded,
    ...bothWays,
    helpValue: 'ID',
    summary: 'manifest variant, if detection cannot tell',
    as: { permissions: { summary: 'manifest variant whose names to use; without it objects of any name' } },
  },
  'manifest-url': {
    ...trustedOfRun,
    ...bothWays,
    env: 'NETSVC_UPGRADE_MANIFEST_URL',
    file: true,
    helpValue: 'URL|DIR',
    summary: 'where releases are fetched from; default: the profile’s',
  },
  'manifest-ca': {
    ...trustedOfRun,
    ...bothWays,
    env: 'NETSVC_UPGRADE_MANIFEST_CA',
    ...file,
    summary: 'CA of the server that releases are fetched from',
  },
  'artifact-digest': {
    ...trusted,
    ...bothWays,
    file: true,
    helpValue: 'NAME=SHA256|FILE',
    ...repeatable,
    summary: 'SHA-256 that a file of the release has to have, or a file of such sums; repeatable',
  },
  'upgrade-file': { option: 'upgradeFile', ...trusted, ...file, summary: 'use this file as upgrade.yaml' },
  base: {
    option: 'base',
    ...trusted,
    file: true,
    helpValue: 'RELEASE|FILE|DIR',
    summary: 'the installed release, or its own manifest: your changes are what differs from it',
  },
  'installed-manifest': {
    option: 'installedManifest',
    ...trusted,
    ...file,
    summary: 'the manifest that you installed, with your changes in it',
  },
  'kvstore-endpoints': { ...trustedOfRun, helpValue: 'URL,…', summary: 'endpoints of the key-value store, instead of the installed ones' },
  chart: {
    option: 'chart',
    ...trustedOfRun,
    file: true,
    helpValue: 'REF',
    summary: 'chart of the operator: a name in --repo, oci://…, a packed file or a folder',
  },
  repo: { option: 'chartRepository', ...trustedOfRun, helpValue: 'URL', summary: 'repository of the chart; default: the profile’s' },
  'crd-chart': {
    option: 'crdChart',
    ...trustedOfRun,
    file: true,
    helpValue: 'REF',
    summary:
      'take the CRDs from this chart; default: the profile’s, if the operator’s chart comes from a repository, without --manifest-url',
  },
  values: { option: 'chartValues', ...trusted, ...file, summary: 'values for the chart, over those that the release has' },
  'backup-dir': {
    option: 'backupDir',
    ...trusted,
    ofOneWay: true,
    ...partOf('backup', 'ownerrefs', 'policy'),
    ...folder,
    summary: 'folder for the backup',
  },
  'with-secrets': {
    type: 'boolean',
    option: 'withSecrets',
    ...trusted,
    ofOneWay: true,
    ...partOf('backup'),
    summary: 'back up Secrets with their values',
  },
  'bin-dir': {
    option: 'binDir',
    ...trusted,
    ...partOf('preflight', 'cli', 'hep', 'policy', 'verify'),
    ...folder,
    summary: 'where the new CLI is installed',
  },
  'cli-config': {
    ...trusted,
    ...bothWays,
    ...file,
    summary:
      'configuration of calicoctl (netsvcctl): written by `cli` where there is none; in key-value mode the CLI is called with it; default: the profile’s, never written',
  },
} as const satisfies Table;
