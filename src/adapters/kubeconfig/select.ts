import { Fault } from '../../kernel/fault.ts';
import type { ClusterEntry, ConnectionFlags, ContextEntry, KubeconfigDocument, UserEntry } from './connection.ts';

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
      'choose one with --context or `kubectl config use-context NAME`',
      `known contexts: ${names(document.contexts)}`,
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

function unknownEntry(what: 'context' | 'cluster' | 'user', name: string, known: string, source: string): Fault {
  return new Fault('usage', `${what} "${name}" does not exist in ${source}`, [
    `choose a known one with --${what}: ${known}`,
    'check --kubeconfig and $KUBECONFIG',
  ]);
}

function names(entries: readonly { readonly name: string }[] | null | undefined): string {
  const all = (entries ?? []).map((one) => one.name);
  return all.length === 0 ? '(none)' : `${all.slice(0, 10).join(', ')}${all.length > 10 ? ', …' : ''}`;
}
