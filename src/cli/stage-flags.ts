import { commandsThat, OPTIONAL_STAGE_IDS, STAGE_IDS } from './command-names.ts';
import { repeatable, type Table } from './flag.ts';

/** Flags that say what is done: those of one command, the part of the chain, and how it is performed. */

const run = { helpGroup: 'run' } as const;
const plan = { helpGroup: 'output', on: ['plan'] } as const;
const range = {
  ...run,
  on: ['plan', 'run'],
  carried: true,
  decidesTrust: false,
  stops: true,
  helpValue: 'STAGE',
  options: STAGE_IDS,
} as const;
/** The parts that a run leaves out or adds: whatever continues with it has them, too. */
const parts = { ...range, on: ['plan', 'run', 'commit'] } as const;
const preflight = { ...run, on: ['preflight'] } as const;
const ownerrefs = { ...run, on: ['ownerrefs'] } as const;
const demo = { ...run, on: ['demo'] } as const;
const alp = { ...run, on: ['alp'] } as const;
/** Only commands that can change something. */
const acting = { ...run, on: commandsThat('performs', 'targets', 'returns') } as const;
/** Commands that wait for the agents: the image has no default, as no registry is reachable from everywhere. */
const probe = { ...run, on: ['plan', 'run', 'commit', 'rollback', 'wait'], carried: true, decidesTrust: false } as const;

export const stageFlags = {
  out: { ...plan, file: true, helpValue: 'FILE', summary: 'save the plan, for run --plan-file' },
  rollback: {
    type: 'boolean',
    ...plan,
    summary: 'plan a rollback instead of an upgrade',
  },
  diff: {
    type: 'boolean',
    ...plan,
    summary: 'show a unified diff per object, live against planned; without descriptions of CRDs and values of Secrets',
  },
  'for-git': {
    ...plan,
    file: true,
    helpValue: 'DIR',
    summary: 'write what Git should hold after the upgrade, one file per object, into a new folder; no Secrets',
  },
  from: {
    ...range,
    summary: 'first stage',
    as: { path: { options: undefined, helpValue: 'RELEASE', summary: 'release to start from; default: what is installed' } },
  },
  kubernetes: { ...run, on: ['path'], helpValue: 'MINOR', summary: 'minor of Kubernetes, such as 1.31; default: that of the server' },
  through: { ...range, summary: 'last stage' },
  include: {
    ...parts,
    options: OPTIONAL_STAGE_IDS,
    ...repeatable,
    summary: `also perform this stage, which is left out unless asked for: ${OPTIONAL_STAGE_IDS.join(', ')}; repeatable`,
  },
  skip: { ...parts, ...repeatable, summary: 'leave this stage out; repeatable' },
  'plan-file': {
    ...run,
    on: ['run', 'commit', 'rollback'],
    file: true,
    helpValue: 'FILE',
    summary: 'refuse to run (exit 7) unless the plan is still this one',
  },
  for: {
    ...run,
    on: ['permissions'],
    helpValue: 'COMMAND',
    required: true,
    summary: 'command whose roles to print; preflight-read-only, probe-nodes, probe-network',
  },
  dir: { on: ['completion'], file: true, helpValue: 'DIR', summary: 'folder on PATH to install to' },
  'probe-nodes': {
    option: 'probeNodes',
    ...preflight,
    helpValue: 'all|N|N%|SELECTOR',
    summary: 'try images, mounts, ports and names of the target on these nodes with a short-lived Job on each, once confirmed',
  },
  'read-only': {
    type: 'boolean',
    option: 'readOnly',
    ...preflight,
    summary: 'ask for nothing but reading and for no Secret: checks that need more are left out, and named',
    exclusive: ['probe-nodes'],
  },
  owner: { ...ownerrefs, helpValue: 'KIND/NAME', summary: 'list only what this resource owns' },
  template: { option: 'template', ...alp, helpValue: 'FILE', summary: 'template of your own instead of the release’s' },
  'only-template': { type: 'boolean', option: 'onlyTemplate', ...alp, summary: 'restart nothing' },
  batch: { type: 'integer', option: 'batch', ...alp, helpValue: 'N', min: 1, summary: 'workloads restarted at a time (default 1)' },
  all: { type: 'boolean', option: 'all', ...alp, summary: 'restart every meshed workload, those with a new sidecar too' },
  delete: { option: 'deletePolicy', ...run, on: ['policy'], helpValue: 'NAME', summary: 'delete the temporary policy of this name' },
  undo: {
    type: 'boolean',
    ...run,
    as: {
      apply: { summary: 'remove only the hold of Typha that an interrupted run left; rollback undoes the rest' },
      alp: { summary: 'put the former template back' },
      hep: { summary: 'undo the last migration: old endpoints, the setting, and the labels it added' },
      ownerrefs: { summary: 'restore before the upgrade: the API server is not waited for' },
    },
  },
  watch: { type: 'boolean', ...run, on: ['status'], summary: 'follow the run that is at work, until it ends' },
  yes: {
    type: 'boolean',
    option: 'yes',
    isForm: true,
    ...acting,
    char: 'y',
    summary: 'change without asking',
    as: { unlock: {}, demo: { summary: 'answer the question with yes' } },
  },
  'dry-run': {
    option: 'dryRun',
    ...acting,
    options: ['none', 'server', 'client'],
    default: 'none',
    summary: 'server: the API server validates every write; client: only print the plan',
  },
  scenario: {
    ...demo,
    options: ['image-pull', 'crash-loop', 'canary-fails', 'conflict', 'lock', 'interrupted', 'ebpf', 'rollback'],
    exclusive: ['keep-going'],
    summary: 'trouble that the run meets, a run without undo (ebpf), or a rollback; without it all goes well',
  },
  fast: { type: 'boolean', ...demo, summary: 'without pauses' },
  'keep-going': {
    type: 'boolean',
    ...demo,
    summary: 'a node gets stuck: the wait times out, the node is fixed, the same command continues',
  },
  'probe-network': {
    type: 'boolean',
    ...probe,
    summary:
      'try the network of new pods on two nodes with short-lived Jobs, and count connections between pods that break while agents are replaced',
  },
  'probe-strict': {
    type: 'boolean',
    ...probe,
    on: ['plan', 'run', 'commit'],
    summary:
      'with --probe-network: stop at the first connection between its pods that breaks; this program then replaces the agents itself',
  },
  'probe-image': {
    ...probe,
    decidesTrust: true,
    helpValue: 'IMAGE',
    summary: 'image for --probe-network, with sh (read -t), nc, and getent or nslookup: busybox',
  },
  'probe-namespace': {
    ...probe,
    live: 'namespaces',
    helpValue: 'NAME',
    summary: 'namespace for the Jobs of --probe-network; the restricted pod security level is enough',
    // The role for that is of this namespace.
    as: { permissions: {} },
  },
  'metrics-file': {
    ...run,
    on: ['run', 'commit', 'rollback'],
    file: true,
    helpValue: 'FILE.prom',
    summary: 'keep figures of the run there, for node_exporter’s textfile collector',
  },
  notify: {
    ...run,
    on: ['run', 'commit', 'rollback'],
    file: true,
    env: 'NETSVC_UPGRADE_NOTIFY',
    helpValue: 'COMMAND|URL',
    summary:
      'send a JSON document when the run starts, is stuck, stops, fails or ends: to a program’s standard input, or by POST to https://…',
  },
} as const satisfies Table;
