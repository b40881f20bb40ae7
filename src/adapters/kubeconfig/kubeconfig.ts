import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { Fault, messageOf } from '../../kernel/fault.ts';
import {
  type ClusterEntry,
  type Connection,
  type ConnectionFlags,
  connectionText,
  type Environment,
  SEE_ENTRY,
  type UserEntry,
} from './connection.ts';
import {
  inClusterSelection,
  overrideCluster,
  overrideUser,
  requestTimeoutMs,
  SERVICE_ACCOUNT_FOLDER,
  type Selection,
  selectEntries,
} from './select.ts';
import { kubeconfigFiles, viewKubeconfig } from './view.ts';

/** What reading a connection needs besides flags and environment; each has the obvious default. */
export interface ConnectionDeps {
  /** kubectl's file or name. */
  readonly kubectl?: string;
  readonly now?: () => Date;
  readonly serviceAccountFolder?: string;
}

/**
 * The cluster and user that kubectl would use with the same flags and environment. Throws Fault('usage') for the user's mistakes,
 * Fault('failed') for an expired certificate.
 */
export async function readConnection(flags: ConnectionFlags, env: Environment, deps: ConnectionDeps = {}): Promise<Connection> {
  const timeout = requestTimeoutMs(flags['request-timeout']);
  const files = kubeconfigFiles(flags, env);
  const { document, originFolder } = await viewKubeconfig(flags, env, deps.kubectl ?? 'kubectl');
  const empty = !document.contexts?.length && !document.clusters?.length;
  const mayBePod = empty && !flags.kubeconfig && !flags.context && !flags.cluster && !flags.server;
  const pod = mayBePod ? await inClusterSelection(env, deps.serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER) : undefined;
  const source = pod ? 'in-cluster' : files.join(', ');
  const chosen = pod ?? selectEntries(document, flags, source);
  const wanted = { ...chosen, cluster: overrideCluster(chosen.cluster, flags), user: overrideUser(chosen.user, flags) };
  const cluster = await flattenCluster(wanted.cluster, () => originFolder('clusters', chosen.clusterName));
  const user = await flattenUser(wanted.user, () => originFolder('users', chosen.userName));
  const server = serverUrlOf(cluster, chosen, source, Boolean(user['client-certificate-data']));
  refuseExpiredCertificate(user, deps.now?.() ?? new Date(), `user "${chosen.userName}" (${connectionText({ source, ...chosen })})`);
  const ownFile = pod ? undefined : fileByItself(files, document['current-context'], chosen, wanted);
  return {
    source,
    ...(ownFile === undefined ? {} : { ownFile }),
    contextName: chosen.contextName,
    clusterName: chosen.clusterName,
    userName: chosen.userName,
    namespace: chosen.context.namespace ?? 'default',
    server,
    cluster: { ...cluster, server },
    user,
    ...(timeout === undefined ? {} : { requestTimeoutMs: timeout }),
    env,
  };
}

/** The file that leads to the same cluster as the same user when a program is given nothing else. */
function fileByItself([file, ...more]: readonly string[], current = '', chosen: Selection, wanted: Selection): string | undefined {
  const { contextName, context, clusterName, userName } = chosen;
  const isCurrent = contextName === current && clusterName === (context.cluster ?? '') && userName === (context.user ?? '');
  const isPlain = isCurrent && JSON.stringify(chosen) === JSON.stringify(wanted);
  if (file === undefined || more.length > 0 || !isPlain) return undefined;
  // What a shell passes by a descriptor (`<(…)`) is gone when another program reads it.
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? resolve(file) : undefined;
}

/** The server with its scheme: as kubectl, https only if something of TLS is configured. */
function serverUrlOf(cluster: ClusterEntry, chosen: Selection, source: string, clientCertificate: boolean): string {
  const written = cluster.server;
  if (!written)
    throw new Fault('usage', `cluster "${chosen.clusterName}" of ${source} has no server`, [
      'name one with --server, or repair the entry',
      SEE_ENTRY,
    ]);
  const secure = clientCertificate || Boolean(cluster['certificate-authority-data'] || cluster['insecure-skip-tls-verify']);
  const url = written.includes('://') ? written : `${secure ? 'https' : 'http'}://${written}`;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new Fault('usage', `the server of cluster "${chosen.clusterName}" is not an http(s) URL: ${written}`, [
      'correct --server or the entry',
      SEE_ENTRY,
    ]);
  return url.replace(/\/+$/, '');
}

/** A kubeconfig of this one connection, as JSON, for every tool (house rule 5). It holds credentials: write it with mode 0600. */
export function privateKubeconfig(connection: Connection): string {
  const { contextName, clusterName, userName, namespace } = connection;
  const names = { context: contextName || 'default', cluster: clusterName || 'default', user: userName || 'default' };
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': names.context,
    clusters: [{ name: names.cluster, cluster: connection.cluster }],
    users: [{ name: names.user, user: connection.user }],
    contexts: [{ name: names.context, context: { cluster: names.cluster, user: names.user, namespace } }],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Folder that relative paths of an entry are meant from; asked only if there is such a path. */
type Origin = () => Promise<string>;

/** Reads the certificate authority into the entry. */
async function flattenCluster(cluster: ClusterEntry, origin: Origin): Promise<ClusterEntry> {
  const { 'certificate-authority': file, ...rest } = cluster;
  if (!file || rest['certificate-authority-data']) return rest;
  return { ...rest, 'certificate-authority-data': await readBase64(file, origin, 'certificate authority') };
}

/** Reads certificate and key into the entry, makes token file and plugin absolute. */
async function flattenUser(user: UserEntry, origin: Origin): Promise<UserEntry> {
  const { 'client-certificate': certificate, 'client-key': key, ...rest } = user;
  const flat: { -readonly [name in keyof UserEntry]: UserEntry[name] } = { ...rest };
  if (certificate && !rest['client-certificate-data'])
    flat['client-certificate-data'] = await readBase64(certificate, origin, 'client certificate');
  if (key && !rest['client-key-data']) flat['client-key-data'] = await readBase64(key, origin, 'client key');
  if (rest.tokenFile) flat.tokenFile = await absolute(rest.tokenFile, origin);
  // A bare name is looked up on PATH, anything with a separator is a path (as kubectl does).
  if (rest.exec && /[/\\]/.test(rest.exec.command)) flat.exec = { ...rest.exec, command: await absolute(rest.exec.command, origin) };
  return flat;
}

/**
 * Throws Fault('failed') with the date if the user's certificate has expired, where a server only answers 401 or breaks off. Not if there
 * is a token: then that counts, so `--token` still works with an expired certificate.
 */
function refuseExpiredCertificate(user: UserEntry, now: Date, where: string): void {
  const data = user['client-certificate-data'];
  if (!data || user.token || user.tokenFile) return;
  const pem = Buffer.from(data, 'base64');
  let until: Date;
  try {
    until = new Date(new X509Certificate(pem).validTo);
  } catch (thrown) {
    throw new Fault('usage', `the client certificate of ${where} cannot be read: ${messageOf(thrown)}`, [
      'repair the kubeconfig',
      SEE_ENTRY,
    ]);
  }
  if (until.getTime() < now.getTime())
    throw new Fault('failed', `the client certificate of ${where} expired on ${until.toISOString()}`, [
      'renew it (kubeadm: `kubeadm certs renew admin.conf`), or choose another user with --user or --context',
      SEE_ENTRY,
    ]);
}

async function absolute(path: string, origin: Origin): Promise<string> {
  return isAbsolute(path) ? path : resolve(await origin(), path);
}

async function readBase64(path: string, origin: Origin, what: string): Promise<string> {
  const file = await absolute(path, origin);
  try {
    return (await readFile(file)).toString('base64');
  } catch (thrown) {
    throw new Fault('usage', `the ${what} cannot be read: ${messageOf(thrown)}`, [
      'correct the path in the kubeconfig, or the flag',
      SEE_ENTRY,
    ]);
  }
}
