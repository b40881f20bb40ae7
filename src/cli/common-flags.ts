import { CLUSTER, CONNECTED, type Table } from './flag.ts';

/** Flags of every command on a cluster: what is printed, and how the cluster is reached. */

const output = { helpGroup: 'output', on: [...CLUSTER, 'demo'] } as const;
// None of them is in a run record: which cluster is meant is said by each command.
const connection = { helpGroup: 'connection', on: [...CONNECTED, 'kubectl'], carried: true, decidesTrust: true } as const;
/** Of one command line alone. */
const isOwn = { carried: false, decidesTrust: undefined } as const;
const file = { file: true, helpValue: 'FILE' } as const;

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'markdown', 'html'] as const;

export const commonFlags = {
  'detailed-exitcode': { type: 'boolean', ...output, on: ['plan', 'run', 'rollback'], summary: 'exit 2 if changes are pending' },
  output: {
    ...output,
    char: 'o',
    options: OUTPUT_FORMATS,
    default: 'table',
    summary: 'format of stdout',
    as: {
      plan: { options: [...OUTPUT_FORMATS, 'images'], summary: 'format of stdout; images: what the nodes will pull, one a line' },
      path: { options: ['table', 'json', 'yaml'] },
    },
  },
  'report-file': { ...output, ...file, isForm: true, summary: 'write the report there too; format by suffix: .json .yaml .md .html .txt' },
  v: {
    type: 'integer',
    ...output,
    // `demo` runs no program and sends no request: there is nothing underneath to tell.
    on: CLUSTER,
    isForm: true,
    char: 'v',
    helpValue: 'LEVEL',
    min: 0,
    max: 9,
    summary: 'log to stderr: -v=1 programs and downloads, -v=6 requests, -v=7 their headers, -v=8 their bodies; no credentials, no Secrets',
  },
  quiet: { type: 'boolean', ...output, isForm: true, char: 'q', summary: 'no progress: only warnings, questions and errors on stderr' },
  'no-progress': { type: 'boolean', ...output, isForm: true, summary: 'a line per change instead of the live view' },
  // kubectl's own names: kubectl refuses them before a plugin's name, so they are ours, after it.
  kubeconfig: { ...connection, helm: 'kubeconfig', ...file, summary: 'kubeconfig file' },
  context: { ...connection, helm: 'kube-context', live: 'contexts', helpValue: 'NAME', summary: 'context of the kubeconfig' },
  cluster: { ...connection, live: 'clusters', helpValue: 'NAME', summary: 'cluster of the kubeconfig' },
  user: { ...connection, live: 'users', helpValue: 'NAME', summary: 'user of the kubeconfig' },
  namespace: {
    option: 'namespace',
    ...connection,
    ...isOwn,
    live: 'namespaces',
    char: 'n',
    helpValue: 'NAME',
    summary: 'list only what is in this namespace; never limits a change',
  },
  server: { ...connection, helm: 'kube-apiserver', char: 's', helpValue: 'URL', summary: 'address of the API server' },
  token: { ...connection, ...isOwn, env: 'NETSVC_UPGRADE_TOKEN', helpValue: 'TOKEN', summary: 'bearer token' },
  as: { ...connection, helm: 'kube-as-user', helpValue: 'USER', summary: 'act as this user' },
  'as-group': {
    ...connection,
    helm: 'kube-as-group',
    helpValue: 'GROUP',
    ...{ multiple: true, multipleNonGreedy: true },
    summary: 'act as this group; repeatable',
  },
  'as-uid': { ...connection, helpValue: 'UID', summary: 'act as this UID' },
  'request-timeout': { ...connection, helpValue: 'TIME', summary: 'limit of one request: 30s, 2m; 0 = none' },
  'insecure-skip-tls-verify': {
    type: 'boolean',
    ...connection,
    helm: 'kube-insecure-skip-tls-verify',
    summary: 'do not check the certificate of the server',
  },
  'certificate-authority': { ...connection, helm: 'kube-ca-file', ...file, summary: 'CA of the server' },
  'client-certificate': { ...connection, ...file, summary: 'certificate of the client' },
  'client-key': { ...connection, ...file, summary: 'key of the client' },
  'tls-server-name': { ...connection, helm: 'kube-tls-server-name', helpValue: 'NAME', summary: 'name in the certificate of the server' },
} as const satisfies Table;
