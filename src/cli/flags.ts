import * as Flags from './flag.ts';

const connection = { helpGroup: 'connection', carried: true } as const;
const run = { helpGroup: 'run' } as const;
const carried = { ...run, carried: true } as const;
const file = { file: true, helpValue: 'FILE' } as const;
const folder = { file: true, helpValue: 'DIR' } as const;
const repeatable = { multiple: true, multipleNonGreedy: true } as const;
const recorded = { ...carried, recorded: true } as const;
const output = { helpGroup: 'output' } as const;

/** kubectl's own names: kubectl refuses them before a plugin's name, so they are ours, after it. */
export const kubectlFlags = {
  kubeconfig: Flags.string({ ...connection, helm: 'kubeconfig', ...file, summary: 'kubeconfig file' }),
  context: Flags.string({ ...connection, helm: 'kube-context', live: 'contexts', helpValue: 'NAME', summary: 'context of the kubeconfig' }),
  cluster: Flags.string({ ...connection, live: 'clusters', helpValue: 'NAME', summary: 'cluster of the kubeconfig' }),
  user: Flags.string({ ...connection, live: 'users', helpValue: 'NAME', summary: 'user of the kubeconfig' }),
  namespace: Flags.string({
    option: 'namespace',
    ...connection,
    carried: false,
    live: 'namespaces',
    char: 'n',
    helpValue: 'NAME',
    summary: 'list only what is in this namespace; never limits a change',
  }),
  server: Flags.string({ ...connection, helm: 'kube-apiserver', char: 's', helpValue: 'URL', summary: 'address of the API server' }),
  token: Flags.string({ ...connection, carried: false, helpValue: 'TOKEN', summary: 'bearer token' }),
  as: Flags.string({ ...connection, helm: 'kube-as-user', helpValue: 'USER', summary: 'act as this user' }),
  'as-group': Flags.string({
    ...connection,
    helm: 'kube-as-group',
    helpValue: 'GROUP',
    ...repeatable,
    summary: 'act as this group; repeatable',
  }),
  'as-uid': Flags.string({ ...connection, helpValue: 'UID', summary: 'act as this UID' }),
  'request-timeout': Flags.string({ ...connection, helpValue: 'TIME', summary: 'limit of one request: 30s, 2m; 0 = none' }),
  'insecure-skip-tls-verify': Flags.boolean({
    ...connection,
    helm: 'kube-insecure-skip-tls-verify',
    summary: 'do not check the certificate of the server',
  }),
  'certificate-authority': Flags.string({ ...connection, helm: 'kube-ca-file', ...file, summary: 'CA of the server' }),
  'client-certificate': Flags.string({ ...connection, ...file, summary: 'certificate of the client' }),
  'client-key': Flags.string({ ...connection, ...file, summary: 'key of the client' }),
  'tls-server-name': Flags.string({
    ...connection,
    helm: 'kube-tls-server-name',
    helpValue: 'NAME',
    summary: 'name in the certificate of the server',
  }),
};

export const stateFlags = {
  'state-namespace': Flags.string({
    option: 'stateNamespace',
    ...connection,
    helpValue: 'NAME',
    live: 'namespaces',
    default: 'kube-system',
    summary: 'where lock and run record are',
  }),
};

export const connectionFlags = { ...kubectlFlags, ...stateFlags };

/** What commands know that look at a run. */
export const recordFlags = {
  profile: Flags.string({
    ...recorded,
    file: true,
    helpValue: 'NAME|FILE',
    summary: 'names of the service: netsvc, calico, or a YAML file; default: found in the cluster',
  }),
  release: Flags.string({ ...recorded, helpValue: 'TAG', summary: 'release to upgrade to; default: the profile’s' }),
};

/** Of which release and kind of installation it is. */
export const scopeFlags = {
  ...recordFlags,
  path: Flags.option({
    option: 'path',
    ...recorded,
    options: ['chart', 'operator', 'manifest', 'kvstore'] as const,
    summary: 'install path, if detection cannot tell',
  })(),
  variant: Flags.string({ option: 'variant', ...recorded, helpValue: 'ID', summary: 'manifest variant, if detection cannot tell' }),
};

/** What to upgrade to, and what the operator of the tool decided about it; that `ownerrefs` knows, too. */
export const ownerrefsTargetFlags = {
  ...scopeFlags,
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
};

/** A hold is released only once policies have their new names, so `ownerrefs` has nothing to hold (NS-743). */
export const targetFlags = {
  ...ownerrefsTargetFlags,
  'hold-policy-migration': Flags.boolean({
    option: 'holdPolicyMigration',
    ...carried,
    summary: 'keep the controllers from renaming stored policies',
  }),
};

/** Only commands that apply manifests, or plan it. */
export const ownershipFlags = {
  ownership: Flags.option({
    option: 'ownership',
    ...carried,
    options: ['first', 'kubectl'] as const,
    default: 'first',
    summary: 'who takes over fields once applied client-side: a patch before the apply, or kubectl after it (rolls the agents twice)',
  })(),
};

/** Owner references: whether they go, and how fast. */
export const ownerFlags = {
  ownerrefs: Flags.option({
    option: 'ownerrefs',
    ...carried,
    options: ['auto', 'always', 'never'] as const,
    default: 'auto',
    summary: 'owner references to remove before the upgrade: those it would break, every living one, or none',
  })(),
  'journal-dir': Flags.string({
    option: 'journalDir',
    ...carried,
    ...folder,
    summary: 'folder for a second copy of the journal of owner references',
  }),
  qps: Flags.integer({
    option: 'qps',
    ...carried,
    helpValue: 'N',
    min: 1,
    summary: 'at most N patches per second; default: what the server accepts',
  }),
  parallel: Flags.integer({
    option: 'parallel',
    ...carried,
    helpValue: 'N',
    min: 1,
    max: 256,
    summary: 'at most N patches at a time; default: 32',
  }),
};

/** Only commands that can change something. */
export const actingFlags = {
  yes: Flags.boolean({ option: 'yes', ...run, char: 'y', summary: 'change without asking' }),
  'dry-run': Flags.option({
    option: 'dryRun',
    ...run,
    options: ['none', 'server', 'client'] as const,
    default: 'none',
    summary: 'server: the API server validates every write; client: only print the plan',
  })(),
};

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name', 'markdown', 'junit', 'html'] as const;

export const outputFlags = {
  output: Flags.option({ ...output, char: 'o', options: OUTPUT_FORMATS, default: 'table', summary: 'format of stdout' })(),
  'report-file': Flags.string({
    ...output,
    ...file,
    summary: 'write the report there too; format by suffix: .json .yaml .md .html .xml .txt',
  }),
  v: Flags.integer({
    ...output,
    char: 'v',
    helpValue: 'LEVEL',
    min: 0,
    max: 9,
    summary: 'log to stderr: -v programs and downloads, -v=6 requests, -v=7 their headers, -v=8 their bodies; no credentials, no Secrets',
  }),
  quiet: Flags.boolean({ ...output, char: 'q', summary: 'no progress: only warnings, questions and errors on stderr' }),
  'no-progress': Flags.boolean({ ...output, summary: 'a line per change instead of the live view' }),
};

const { v: _, ...withoutTrace } = outputFlags;

/** `demo` runs no program and sends no request: there is nothing underneath to tell. */
export const demoOutputFlags = withoutTrace;

/** `plan` lists images besides. */
export const planOutputFlags = {
  ...outputFlags,
  output: Flags.option({
    ...output,
    char: 'o',
    options: [...OUTPUT_FORMATS, 'images'] as const,
    default: 'table',
    summary: 'format of stdout; images: what the nodes will pull, one a line',
  })(),
};

export const pendingFlags = {
  'detailed-exitcode': Flags.boolean({ ...output, summary: 'exit 2 if changes are pending' }),
};
