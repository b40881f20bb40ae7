import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { kubeconfigCommand } from '../../kernel/command.ts';
import { succeeds } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import { look, text } from '../../kernel/step.ts';
import type { ClusterEntry, ConnectionFlags, ContextEntry, Environment, KubeconfigDocument, UserEntry } from './connection.ts';

export interface Selection {
  readonly contextName: string;
  readonly context: ContextEntry;
  readonly clusterName: string;
  readonly cluster: ClusterEntry;
  readonly userName: string;
  readonly user: UserEntry;
}

/** The entries that the flags and the current context choose. Throws Fault('usage') for names that do not exist. */
export function selectEntries(document: KubeconfigDocument, flags: ConnectionFlags, source: string): Selection {
  const contextName = flags.context ?? document['current-context'] ?? '';
  const found = document.contexts?.find((one) => one.name === contextName);
  if (!found && contextName !== '') throw unknownEntry('context', contextName, names(document.contexts), source);
  if (!found && !flags.server && !flags.cluster)
    throw new Fault('usage', `no current context in ${source}`, [
      text`choose one with --context or \`${kubeconfigCommand`kubectl config use-context NAME`}\``,
      `known contexts: ${names(document.contexts)}`,
      SEE_CONTEXTS,
    ]);
  const context = found?.context ?? {};
  const clusterName = flags.cluster ?? context.cluster ?? '';
  const cluster = document.clusters?.find((one) => one.name === clusterName);
  if (!cluster && clusterName !== '') throw unknownEntry('cluster', clusterName, names(document.clusters), source);
  const userName = flags.user ?? context.user ?? '';
  const user = document.users?.find((one) => one.name === userName);
  if (!user && userName !== '') throw unknownEntry('user', userName, names(document.users), source);
  return { contextName, context, clusterName, cluster: cluster?.cluster ?? {}, userName, user: user?.user ?? {} };
}

const SEE_CONTEXTS = look(text`see the contexts with their clusters and users: ${kubeconfigCommand`kubectl config get-contexts`}`);

function unknownEntry(what: 'context' | 'cluster' | 'user', name: string, known: string, source: string): Fault {
  return new Fault('usage', `${what} "${name}" does not exist in ${source}`, [
    `choose a known one with --${what}: ${known}`,
    'check --kubeconfig and $KUBECONFIG',
    SEE_CONTEXTS,
  ]);
}

function names(entries: readonly { readonly name: string }[] | null | undefined): string {
  const all = (entries ?? []).map((one) => one.name);
  return all.length === 0 ? '(none)' : `${all.slice(0, 10).join(', ')}${all.length > 10 ? ', …' : ''}`;
}

/** Where a pod finds its service account. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The connection of a pod to its own cluster; undefined outside of one. */
export async function inClusterSelection(env: Environment, folder: string): Promise<Selection | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const token = join(folder, 'token');
  if (!host || !port || !(await succeeds(stat(token)))) return undefined;
  const authority = join(folder, 'ca.crt');
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => '');
  return {
    contextName: '',
    context: namespace.trim() ? { namespace: namespace.trim() } : {},
    clusterName: 'in-cluster',
    cluster: {
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      ...((await succeeds(stat(authority))) ? { 'certificate-authority': authority } : {}),
    },
    userName: 'service-account',
    user: { tokenFile: token },
  };
}

/** kubectl's rules: another server clears its certificate's name; an authority or skipped verification replaces both as a pair. */
export function overrideCluster(cluster: ClusterEntry, flags: ConnectionFlags): ClusterEntry {
  const changed: { -readonly [key in keyof ClusterEntry]: ClusterEntry[key] } = { ...cluster };
  if (flags.server) changed.server = flags.server;
  if (flags.server || flags['tls-server-name']) changed['tls-server-name'] = flags['tls-server-name'];
  if (flags['insecure-skip-tls-verify'] || flags['certificate-authority']) {
    changed['insecure-skip-tls-verify'] = flags['insecure-skip-tls-verify'] ?? false;
    changed['certificate-authority'] = flags['certificate-authority'] ? resolve(flags['certificate-authority']) : undefined;
    changed['certificate-authority-data'] = undefined;
  }
  const hasAuthority = changed['certificate-authority'] || changed['certificate-authority-data'];
  if (changed['insecure-skip-tls-verify'] && hasAuthority)
    throw new Fault('usage', 'a certificate authority and insecure-skip-tls-verify exclude each other', [
      'leave one of them out (flags, or the cluster entry of the kubeconfig)',
    ]);
  return changed;
}

/** kubectl's rules: a certificate replaces the kubeconfig's, but a token does not replace a readable token file. */
export function overrideUser(user: UserEntry, flags: ConnectionFlags): UserEntry {
  const changed: { -readonly [key in keyof UserEntry]: UserEntry[key] } = { ...user };
  for (const name of ['token', 'as', 'as-uid'] as const) if (flags[name]) changed[name] = flags[name];
  for (const name of ['client-certificate', 'client-key'] as const)
    if (flags[name]) Object.assign(changed, { [name]: resolve(flags[name]), [`${name}-data`]: undefined });
  if (flags['as-group']?.length) changed['as-groups'] = flags['as-group'];
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = changed;
  if (!as && (uid || groups?.length || Object.keys(extra ?? {}).length > 0))
    throw new Fault('usage', 'groups, a UID or extra fields to impersonate were given without a user', ['name the user with --as']);
  return changed;
}

const UNIT_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `--request-timeout`: whole seconds or a Go duration; 0 and nothing mean no limit. Milliseconds. */
export function requestTimeoutMs(value: string | undefined): number | undefined {
  if (value === undefined || value === '' || value === '0') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const parts = [...value.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== value)
    throw new Fault('usage', `--request-timeout=${value} is not a time`, [
      'write whole seconds, or a number with its unit: 30, 30s, 2m, 1h',
    ]);
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ''] ?? 0), 0);
  return total > 0 ? total : undefined;
}
