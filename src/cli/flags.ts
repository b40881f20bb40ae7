import * as Flags from '@oclif/core/flags';

const connection = { helpGroup: 'connection' } as const;
const run = { helpGroup: 'run' } as const;
const output = { helpGroup: 'output' } as const;

/** kubectl's own names: kubectl refuses them before a plugin's name, so they are ours, after it. */
export const connectionFlags = {
  kubeconfig: Flags.string({ ...connection, helpValue: 'FILE', summary: 'kubeconfig file' }),
  context: Flags.string({ ...connection, helpValue: 'NAME', summary: 'context of the kubeconfig' }),
  cluster: Flags.string({ ...connection, helpValue: 'NAME', summary: 'cluster of the kubeconfig' }),
  user: Flags.string({ ...connection, helpValue: 'NAME', summary: 'user of the kubeconfig' }),
  namespace: Flags.string({
    ...connection,
    char: 'n',
    helpValue: 'NAME',
    summary: 'list only what is in this namespace; never limits a change',
  }),
  server: Flags.string({ ...connection, char: 's', helpValue: 'URL', summary: 'address of the API server' }),
  token: Flags.string({ ...connection, helpValue: 'TOKEN', summary: 'bearer token' }),
  as: Flags.string({ ...connection, helpValue: 'USER', summary: 'act as this user' }),
  'as-group': Flags.string({
    ...connection,
    helpValue: 'GROUP',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'act as this group; repeatable',
  }),
  'as-uid': Flags.string({ ...connection, helpValue: 'UID', summary: 'act as this UID' }),
  'request-timeout': Flags.string({ ...connection, helpValue: 'TIME', summary: 'limit of one request: 30s, 2m; 0 = none' }),
  'insecure-skip-tls-verify': Flags.boolean({ ...connection, summary: 'do not check the certificate of the server' }),
  'certificate-authority': Flags.string({ ...connection, helpValue: 'FILE', summary: 'CA of the server' }),
  'client-certificate': Flags.string({ ...connection, helpValue: 'FILE', summary: 'certificate of the client' }),
  'client-key': Flags.string({ ...connection, helpValue: 'FILE', summary: 'key of the client' }),
  'tls-server-name': Flags.string({ ...connection, helpValue: 'NAME', summary: 'name in the certificate of the server' }),
  'state-namespace': Flags.string({ ...connection, helpValue: 'NAME', default: 'kube-system', summary: 'where lock and run record are' }),
};

/** What to upgrade to, and what the operator of the tool decided about it. */
export const targetFlags = {
  profile: Flags.string({
    ...run,
    helpValue: 'NAME|FILE',
    summary: 'names of the service: netsvc, calico, or a YAML file; default: found in the cluster',
  }),
  release: Flags.string({ ...run, helpValue: 'TAG', summary: 'release to upgrade to; default: the profile’s' }),
  path: Flags.option({
    ...run,
    options: ['chart', 'operator', 'manifest', 'kvstore'] as const,
    summary: 'install path, if detection cannot tell',
  })(),
  variant: Flags.string({ ...run, helpValue: 'ID', summary: 'manifest variant, if detection cannot tell' }),
  'manifest-url': Flags.string({ ...run, helpValue: 'URL|DIR', summary: 'where releases are fetched from; default: the profile’s' }),
  'manifest-ca': Flags.string({ ...run, helpValue: 'FILE', summary: 'CA of the server that releases are fetched from' }),
  'artifact-digest': Flags.string({
    ...run,
    helpValue: 'NAME=SHA256|FILE',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'SHA-256 that a file of the release has to have, or a file of such sums; repeatable',
  }),
  'upgrade-file': Flags.string({ ...run, helpValue: 'FILE', summary: 'use this file as upgrade.yaml' }),
  base: Flags.string({
    ...run,
    helpValue: 'RELEASE|FILE|DIR',
    summary: 'the installed release, or its own manifest: your edits are what differs from it',
  }),
  'installed-manifest': Flags.string({ ...run, helpValue: 'FILE', summary: 'the manifest that you installed, with your edits in it' }),
  'kvstore-endpoints': Flags.string({
    ...run,
    helpValue: 'URL,…',
    summary: 'endpoints of the key-value store, instead of the installed ones',
  }),
  resolve: Flags.string({
    ...run,
    helpValue: 'FIELD=mine|theirs',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'whose value stands where you and the release both changed a field; repeatable',
  }),
  chart: Flags.string({ ...run, helpValue: 'REF', summary: 'chart of the operator: a name in --repo, oci://…, a packed file or a folder' }),
  repo: Flags.string({ ...run, helpValue: 'URL', summary: 'repository of the chart; default: the profile’s' }),
  'crd-chart': Flags.string({ ...run, helpValue: 'REF', summary: 'take the CRDs from this chart instead of the release’s file' }),
  values: Flags.string({ ...run, helpValue: 'FILE', summary: 'values for the chart, over those that the release has' }),
  'manage-crds': Flags.boolean({ ...run, summary: 'chart installs: leave the CRDs to the new operator instead of applying them first' }),
  'move-release': Flags.boolean({
    ...run,
    summary: 'chart installs: move a release of a chart up to v3.22 from its namespace to that of the operator',
  }),
  accept: Flags.string({
    ...run,
    helpValue: 'CHECK-ID[=SUBJECT]',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'turn a failed check, or its finding on one subject, into a warning; repeatable',
  }),
  'fail-on': Flags.option({
    ...run,
    options: ['error', 'warning'] as const,
    default: 'error',
    summary: 'findings that stop the command',
  })(),
  timeout: Flags.string({ ...run, helpValue: 'TIME', summary: 'limit of each wait: 90s, 10m; default: by the number of nodes' }),
  'max-failed': Flags.integer({ ...run, helpValue: 'N', default: 0, min: 0, summary: 'failed pods that a wait still tolerates' }),
  'backup-dir': Flags.string({ ...run, helpValue: 'DIR', summary: 'folder for the backup' }),
  'with-secrets': Flags.boolean({ ...run, summary: 'back up Secrets with their values' }),
  'bin-dir': Flags.string({ ...run, helpValue: 'DIR', summary: 'where the new CLI is installed' }),
  'cli-config': Flags.string({
    ...run,
    helpValue: 'FILE',
    summary:
      'configuration of the service’s CLI: written by `cli` where there is none; in key-value mode the CLI is called with it; default: the profile’s, never written',
  }),
  'enable-flow-logs': Flags.boolean({
    ...run,
    summary: 'operator installs: add the flow-log aggregator, which a hosted observability console needs to receive flow logs, and its UI',
  }),
  'hold-policy-migration': Flags.boolean({ ...run, summary: 'keep the controllers from renaming stored policies' }),
};

/** Only commands that apply manifests, or plan it. */
export const ownershipFlags = {
  ownership: Flags.option({
    ...run,
    options: ['first', 'kubectl'] as const,
    default: 'first',
    summary: 'who takes over fields once applied client-side: a patch before the apply, or kubectl after it (rolls the agents twice)',
  })(),
};

/** Owner references: whether they go, and how fast. */
export const ownerFlags = {
  ownerrefs: Flags.option({
    ...run,
    options: ['auto', 'always', 'never'] as const,
    default: 'auto',
    summary: 'owner references to take off before the upgrade: those it would break, every living one, or none',
  })(),
  'journal-dir': Flags.string({ ...run, helpValue: 'DIR', summary: 'folder for a second copy of the journal of owner references' }),
  qps: Flags.integer({ ...run, helpValue: 'N', min: 1, summary: 'at most so many patches a second; default: what the server takes' }),
  parallel: Flags.integer({ ...run, helpValue: 'N', min: 1, max: 256, summary: 'at most so many patches at a time; default: 32' }),
};

/** Only commands that can change something. */
export const actingFlags = {
  yes: Flags.boolean({ ...run, char: 'y', summary: 'change without asking' }),
  'dry-run': Flags.option({
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
    helpValue: 'FILE',
    summary: 'write the report there too; format by suffix: .json .yaml .md .html .xml .txt',
  }),
  v: Flags.integer({
    ...output,
    char: 'v',
    helpValue: 'LEVEL',
    min: 0,
    max: 9,
    summary:
      'tell on stderr what goes on: -v programs and downloads, -v=6 requests, -v=7 their headers, -v=8 their bodies; no credentials, no Secrets',
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

/** Flags whose value is a file or folder: the shell completes it. */
export const FILE_FLAGS: readonly string[] = [
  ...[
    'kubeconfig',
    'certificate-authority',
    'client-certificate',
    'client-key',
    'profile',
    'manifest-url',
    'manifest-ca',
    'artifact-digest',
    'upgrade-file',
    'base',
    'installed-manifest',
  ],
  ...['chart', 'crd-chart', 'values'],
  ...['backup-dir', 'journal-dir', 'bin-dir', 'cli-config', 'report-file', 'out', 'plan-file', 'dir'],
];
