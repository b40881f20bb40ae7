import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { Fault, messageOf } from '../../kernel/fault.ts';
import type { ClusterEntry, UserEntry } from './connection.ts';

/** Folder that relative paths of an entry are meant from; asked only if there is such a path. */
export type Origin = () => Promise<string>;

/** Reads the certificate authority into the entry. */
export async function flattenCluster(cluster: ClusterEntry, origin: Origin): Promise<ClusterEntry> {
  const { 'certificate-authority': file, ...rest } = cluster;
  if (!file || rest['certificate-authority-data']) return rest;
  return { ...rest, 'certificate-authority-data': await readBase64(file, origin, 'certificate authority') };
}

/** Reads certificate and key into the entry, makes token file and plugin absolute. */
export async function flattenUser(user: UserEntry, origin: Origin): Promise<UserEntry> {
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
 * Throws Fault('failed') with the date if the user's certificate has expired: a server only answers 401, or breaks off.
 * Not where a token goes with it, which is then what counts: `--token` is the way in when a certificate has run out.
 */
export function refuseExpiredCertificate(user: UserEntry, now: Date, where: string): void {
  const data = user['client-certificate-data'];
  if (!data || user.token || user.tokenFile) return;
  const pem = Buffer.from(data, 'base64');
  let until: Date;
  try {
    until = new Date(new X509Certificate(pem).validTo);
  } catch (thrown) {
    throw new Fault('usage', `the client certificate of ${where} cannot be read: ${messageOf(thrown)}`, ['repair the kubeconfig']);
  }
  if (until.getTime() < now.getTime())
    throw new Fault('failed', `the client certificate of ${where} expired on ${until.toISOString()}`, [
      'renew it (kubeadm: `kubeadm certs renew admin.conf`), or choose another user with --user or --context',
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
    throw new Fault('usage', `the ${what} cannot be read: ${messageOf(thrown)}`, ['correct the path in the kubeconfig, or the flag']);
  }
}
