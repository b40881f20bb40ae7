import { BOTH_WAYS, CONNECTED, TARGETED, type Table } from './flag.ts';

/** Flags of the upgrade as a whole: its target, where its files are, what was decided, and limits. A run that is continued is given them again. */

const carried = { helpGroup: 'run', carried: true, decidesTrust: false, on: TARGETED } as const;
/** For a rollback as well. */
const bothWays = { on: BOTH_WAYS } as const;
const recorded = { ...carried, recorded: true } as const;
/** What is applied, started or believed, where credentials go, what is waived; paths, which another machine's record may name, among it. */
const trusted = { ...carried, decidesTrust: true } as const;
const trustedOfRun = { ...trusted, recorded: true } as const;
/** What commands know that look at a run. */
const ofRun = { ...recorded, on: CONNECTED } as const;
/** Owner references: whether they go, and how fast. */
const owners = { ...carried, on: ['preflight', 'plan', 'run', 'commit', 'rollback', 'apply', 'ownerrefs'] } as const;
/** The commands of a whole upgrade or rollback, with those that have the stage. */
const partOf = (...stages: readonly string[]) => ({ on: ['plan', 'run', 'commit', 'rollback', ...stages] });
/** How the agents are replaced. */
const agents = { ...carried, on: ['plan', 'run', 'rollback', 'apply'] } as const;
/** A command of the user, started beside the replacement of agents. */
const userCommand = {
  ...agents,
  ...partOf('apply'),
  decidesTrust: true,
  isUserCommand: true,
  helpValue: 'COMMAND',
} as const;
const file = { file: true, helpValue: 'FILE' } as const;
const folder = { file: true, helpValue: 'DIR' } as const;
const repeatable = { multiple: true, multipleNonGreedy: true } as const;

export const upgradeFlags = {
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
    options: ['chart', 'operator', 'manifest', 'kvstore'],
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
  resolve: {
    ...carried,
    ...bothWays,
    ofOneWay: true,
    helpValue: 'FIELD=mine|theirs',
    ...repeatable,
    summary: 'resolve a conflict: keep `mine` or take `theirs`; repeatable',
  },
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
  'manage-crds': {
    type: 'boolean',
    option: 'manageCrds',
    ...carried,
    summary: 'chart installs: leave the CRDs to the new operator instead of applying them first',
  },
  'move-release': {
    type: 'boolean',
    option: 'moveRelease',
    ...carried,
    summary: 'chart installs: move a release of a chart up to v3.22 from its namespace to that of the operator',
  },
  accept: {
    ...trusted,
    ...bothWays,
    ofOneWay: true,
    helpValue: 'CHECK-ID[=SUBJECT]',
    ...repeatable,
    summary: 'waive a failed check, or one subject of it: shown as accepted, it stops nothing; repeatable',
  },
  'fail-on': {
    option: 'failOn',
    ...carried,
    ...bothWays,
    options: ['error', 'warning'],
    default: 'error',
    summary: 'findings that stop the command',
  },
  timeout: { ...carried, ...bothWays, helpValue: 'TIME', summary: 'limit of each wait: 90s, 10m; default: by the number of nodes' },
  'max-failed': {
    type: 'integer',
    option: 'maxFailed',
    ...carried,
    ...partOf('apply', 'wait', 'alp'),
    helpValue: 'N',
    default: 0,
    min: 0,
    summary: 'failed pods that a wait still tolerates',
  },
  canary: {
    option: 'canary',
    ...agents,
    ofOneWay: true,
    helpValue: 'N|N%|NODE,…|SELECTOR',
    summary: 'manifest installs: upgrade only the agents of these nodes, then stop; commit continues',
  },
  soak: { ...agents, ofOneWay: true, helpValue: 'TIME', summary: 'watch the nodes of --canary for so long, then continue by itself: 30m' },
  'max-unavailable': {
    ...agents,
    ...partOf('apply'),
    helpValue: 'N|N%',
    summary: 'manifest installs: agents that may be unavailable at a time, until all are upgraded; then their own value again',
  },
  probe: {
    ...userCommand,
    summary:
      'run this command every few seconds, from before the start; the run stops once it has failed twice in a row. No shell reads it',
  },
  'before-node': {
    ...userCommand,
    summary: 'manifest installs: run this command before the agent of a node is replaced; {node} is its name. If it fails, the run stops',
  },
  'after-node': { ...userCommand, summary: 'the same once the new agent of the node is ready' },
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
  'enable-flow-logs': {
    type: 'boolean',
    option: 'enableFlowLogs',
    ...carried,
    on: ['preflight', 'plan', 'run', 'commit', 'apply'],
    summary: 'operator installs: add the flow-log aggregator, which a hosted observability console needs to receive flow logs, and its UI',
  },
  until: {
    option: 'until',
    ...agents,
    on: ['plan', 'run', 'apply'],
    options: ['agents', 'controllers'],
    summary:
      'stop before Typha and the controllers are new (agents, manifest installs), or with all new, and no stored policy renamed (controllers); commit continues',
  },
  qps: {
    type: 'integer',
    option: 'qps',
    ...owners,
    helpValue: 'N',
    min: 1,
    summary: 'at most N patches per second; default: what the server accepts',
  },
  parallel: {
    type: 'integer',
    option: 'parallel',
    ...owners,
    helpValue: 'N',
    min: 1,
    max: 256,
    summary: 'at most N patches at a time; default: 16',
  },
} as const satisfies Table;
