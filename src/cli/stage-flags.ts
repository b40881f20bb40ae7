import * as Flags from './flag.ts';

/** Flags of one command alone. */

const run = { helpGroup: 'run' } as const;

export const alpFlags = {
  template: Flags.string({ option: 'template', ...run, helpValue: 'FILE', summary: 'template of your own instead of the release’s' }),
  'only-template': Flags.boolean({ option: 'onlyTemplate', ...run, summary: 'restart nothing' }),
  'max-unavailable-workloads': Flags.integer({
    option: 'batch',
    ...run,
    helpValue: 'N',
    min: 1,
    exclusive: ['batch'],
    summary: 'the same as --batch: no more workloads than this are restarting at a time',
  }),
  batch: Flags.integer({ option: 'batch', ...run, helpValue: 'N', min: 1, summary: 'workloads restarted at a time (default 1)' }),
  all: Flags.boolean({ option: 'all', ...run, summary: 'restart every meshed workload, those with a new sidecar too' }),
  selector: Flags.string({ option: 'selector', ...run, char: 'l', helpValue: 'SELECTOR', summary: 'only pods with these labels' }),
  undo: Flags.boolean({ option: 'undo', ...run, summary: 'put the former template back' }),
};

export const policyFlags = {
  delete: Flags.string({ option: 'deletePolicy', ...run, helpValue: 'NAME', summary: 'delete the temporary policy of this name' }),
  undo: Flags.boolean({ option: 'undo', ...run, summary: 'create the deleted policy again' }),
};

export const hepFlags = {
  undo: Flags.boolean({ option: 'undo', ...run, summary: 'undo the last migration: old endpoints, the setting, and the labels it added' }),
};

/** `ownerrefs`: each belongs to one of its actions. */
export const ownerrefsFlags = {
  owner: Flags.string({ ...run, helpValue: 'KIND/NAME', summary: 'list only what this resource owns' }),
  selector: Flags.string({ ...run, char: 'l', helpValue: 'SELECTOR', summary: 'list only objects with these labels' }),
  undo: Flags.boolean({ option: 'undo', ...run, summary: 'restore before the upgrade: the API server is not waited for' }),
};

export const preflightFlags = {
  'probe-images': Flags.boolean({
    ...run,
    summary: 'have every node pull the images of the target with a short-lived DaemonSet, once confirmed',
  }),
  'read-only': Flags.boolean({
    option: 'readOnly',
    ...run,
    summary: 'ask for nothing but reading and for no Secret: checks that need more are left out, and named',
    exclusive: ['probe-images'],
  }),
};

/** Where the network is probed: the role for that is of this namespace. */
export const probePlaceFlags = {
  'probe-namespace': Flags.string({
    ...run,
    carried: true,
    live: 'namespaces',
    helpValue: 'NAME',
    summary: 'namespace for the Jobs of --probe-network; the restricted pod security level is enough',
  }),
};

/** Flags of commands that wait for the agents: the image has no default, as no registry is reachable from everywhere. */
export const networkProbeFlags = {
  'probe-network': Flags.boolean({
    ...run,
    carried: true,
    summary: 'try the network of new pods on two nodes with short-lived Jobs, after the first upgraded agent and at the end of the wait',
  }),
  'probe-image': Flags.string({
    ...run,
    carried: true,
    helpValue: 'IMAGE',
    summary: 'image for --probe-network, with sh, nc, and getent or nslookup: busybox',
  }),
  ...probePlaceFlags,
};

export const statusFlags = {
  watch: Flags.boolean({ ...run, summary: 'follow the run that is at work, until it ends' }),
};

export const reportFlags = {
  support: Flags.string({
    ...run,
    file: true,
    helpValue: 'FILE.tgz',
    summary: 'write a bundle for support: report, record, pods, logs and events of the service, without Secrets and credentials',
  }),
};

export const notifyFlags = {
  notify: Flags.string({
    ...run,
    file: true,
    helpValue: 'COMMAND|URL',
    summary: 'send a JSON document when the run starts, stops, fails or ends: to a program’s standard input, or by POST to https://…',
  }),
};

export type StageFlags = typeof alpFlags &
  typeof policyFlags &
  typeof preflightFlags &
  typeof networkProbeFlags &
  typeof statusFlags &
  typeof reportFlags &
  typeof notifyFlags;
