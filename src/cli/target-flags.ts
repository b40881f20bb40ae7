import * as Flags from './flag.ts';

/** Flags that say what is upgraded to, and what the operator of the tool decided about it. */

const { CHAIN, TARGETED, CLUSTER } = Flags;
const carried = { helpGroup: 'run', carried: true, on: TARGETED } as const;
const recorded = { ...carried, recorded: true } as const;
/** What commands know that look at a run. */
const ofRun = { ...recorded, on: CLUSTER } as const;
/** Owner references: whether they go, and how fast. */
const owners = { ...carried, on: ['preflight', 'plan', 'run', 'apply', 'ownerrefs'] } as const;
const file = { file: true, helpValue: 'FILE' } as const;
const folder = { file: true, helpValue: 'DIR' } as const;
const repeatable = { multiple: true, multipleNonGreedy: true } as const;

export const targetFlags = {
  profile: Flags.string({
    ...ofRun,
    file: true,
    helpValue: 'NAME|FILE',
    summary: 'names of the service: netsvc, calico, or a YAML file; default: found in the cluster',
    as: { permissions: { default: 'netsvc', summary: 'names of the service' } },
  }),
  release: Flags.string({
    ...ofRun,
    helpValue: 'TAG',
    summary: 'release to upgrade to; default: the profile’s',
    as: { permissions: { summary: 'release whose names to use; default: the profile’s' } },
  }),
  path: Flags.option({
    option: 'path',
    ...recorded,
    options: ['chart', 'operator', 'manifest', 'kvstore'] as const,
    summary: 'install path, if detection cannot tell',
    as: { permissions: { options: ['manifest', 'operator', 'chart', 'kvstore'], default: 'manifest', summary: 'install path' } },
  })(),
  variant: Flags.string({
    option: 'variant',
    ...recorded,
    helpValue: 'ID',
    summary: 'manifest variant, if detection cannot tell',
    as: { permissions: { summary: 'manifest variant whose names to use; without it objects of any name' } },
  }),
  'manifest-url': Flags.string({
    ...recorded,
    file: true,
    helpValue: 'URL|DIR',
    summary: 'where releases are fetched from; default: the profile’s',
  }),
  'manifest-ca': Flags.string({ ...recorded, ...file, summary: 'CA of the server that releases are fetched from' }),
  'artifact-digest': Flags.string({
    ...carried,
    file: true,
    helpValue: 'NAME=SHA256|FILE',
    ...repeatable,
    summary: 'SHA-256 that a file of the release has to have, or a file of such sums; repeatable',
  }),
  'upgrade-file': Flags.string({ option: 'upgradeFile', ...carried, ...file, summary: 'use this file as upgrade.yaml' }),
  base: Flags.string({
    option: 'base',
    ...carried,
    file: true,
    helpValue: 'RELEASE|FILE|DIR',
    summary: 'the installed release, or its own manifest: your edits are what differs from it',
  }),
  'installed-manifest': Flags.string({
    option: 'installedManifest',
    ...carried,
    ...file,
    summary: 'the manifest that you installed, with your edits in it',
  }),
  'kvstore-endpoints': Flags.string({
    ...recorded,
    helpValue: 'URL,…',
    summary: 'endpoints of the key-value store, instead of the installed ones',
  }),
  resolve: Flags.string({
    ...carried,
    helpValue: 'FIELD=mine|theirs',
    ...repeatable,
    summary: 'resolve a conflict: keep `mine` or take `theirs`; repeatable',
  }),
  chart: Flags.string({
    option: 'chart',
    ...recorded,
    file: true,
    helpValue: 'REF',
    summary: 'chart of the operator: a name in --repo, oci://…, a packed file or a folder',
  }),
  repo: Flags.string({
    option: 'chartRepository',
    ...recorded,
    helpValue: 'URL',
    summary: 'repository of the chart; default: the profile’s',
  }),
  'crd-chart': Flags.string({
    option: 'crdChart',
    ...recorded,
    file: true,
    helpValue: 'REF',
    summary: 'take the CRDs from this chart instead of the release’s file',
  }),
  values: Flags.string({ option: 'chartValues', ...carried, ...file, summary: 'values for the chart, over those that the release has' }),
  'manage-crds': Flags.boolean({
    option: 'manageCrds',
    ...carried,
    summary: 'chart installs: leave the CRDs to the new operator instead of applying them first',
  }),
  'move-release': Flags.boolean({
    option: 'moveRelease',
    ...carried,
    summary: 'chart installs: move a release of a chart up to v3.22 from its namespace to that of the operator',
  }),
  accept: Flags.string({
    ...carried,
    helpValue: 'CHECK-ID[=SUBJECT]',
    ...repeatable,
    summary: 'turn a failed check, or its finding on one subject, into a warning; repeatable',
  }),
  'fail-on': Flags.option({
    option: 'failOn',
    ...carried,
    options: ['error', 'warning'] as const,
    default: 'error',
    summary: 'findings that stop the command',
  })(),
  timeout: Flags.string({ ...carried, helpValue: 'TIME', summary: 'limit of each wait: 90s, 10m; default: by the number of nodes' }),
  'max-failed': Flags.integer({
    option: 'maxFailed',
    ...carried,
    helpValue: 'N',
    default: 0,
    min: 0,
    summary: 'failed pods that a wait still tolerates',
  }),
  'backup-dir': Flags.string({ option: 'backupDir', ...carried, ...folder, summary: 'folder for the backup' }),
  'with-secrets': Flags.boolean({ option: 'withSecrets', ...carried, summary: 'back up Secrets with their values' }),
  'bin-dir': Flags.string({ option: 'binDir', ...carried, ...folder, summary: 'where the new CLI is installed' }),
  'cli-config': Flags.string({
    ...carried,
    ...file,
    summary:
      'configuration of the service’s CLI: written by `cli` where there is none; in key-value mode the CLI is called with it; default: the profile’s, never written',
  }),
  'enable-flow-logs': Flags.boolean({
    option: 'enableFlowLogs',
    ...carried,
    summary: 'operator installs: add the flow-log aggregator, which a hosted observability console needs to receive flow logs, and its UI',
  }),
  'hold-policy-migration': Flags.boolean({
    option: 'holdPolicyMigration',
    ...carried,
    // A hold is released only once policies have their new names, so `ownerrefs` has nothing to hold (NS-743).
    on: CHAIN,
    summary: 'keep the controllers from renaming stored policies',
  }),
  ownerrefs: Flags.option({
    option: 'ownerrefs',
    ...owners,
    options: ['auto', 'always', 'never'] as const,
    default: 'auto',
    summary: 'owner references to remove before the upgrade: those it would break, every living one, or none',
  })(),
  'journal-dir': Flags.string({
    option: 'journalDir',
    ...owners,
    ...folder,
    summary: 'folder for a second copy of the journal of owner references',
  }),
  qps: Flags.integer({
    option: 'qps',
    ...owners,
    helpValue: 'N',
    min: 1,
    summary: 'at most N patches per second; default: what the server accepts',
  }),
  parallel: Flags.integer({
    option: 'parallel',
    ...owners,
    helpValue: 'N',
    min: 1,
    max: 256,
    summary: 'at most N patches at a time; default: 32',
  }),
  ownership: Flags.option({
    option: 'ownership',
    ...carried,
    // Only commands that apply manifests, or plan it.
    on: ['plan', 'run', 'crds', 'apply'],
    options: ['first', 'kubectl'] as const,
    default: 'first',
    summary: 'who takes over fields once applied client-side: a patch before the apply, or kubectl after it (rolls the agents twice)',
  })(),
};
