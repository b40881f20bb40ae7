import { readFile } from 'node:fs/promises';
import { Fault, messageOf } from '../../kernel/fault.ts';
import type { Connection, UserEntry } from '../kubeconfig/connection.ts';
import { type Credential, type ExecSurroundings, type Obtained, runExecPlugin } from './exec.ts';

export type { Credential } from './exec.ts';

export interface Authorizer {
  /** The credential to use now, at once where it is known; plugins and files are asked at most once until they expire. */
  current(): Credential | Promise<Credential>;
  /** After a 401: forgets what was cached. False if asking again could not change anything. */
  refresh(used: Credential): boolean;
  /** Ends the plugin that is at work: nobody waits for it any more. */
  close(): void;
}

/** Token files of pods are replaced while we run; kubectl reads them again after a minute too. */
const TOKEN_FILE_MS = 60_000;

/** Credentials of a connection. As in kubectl none are ever sent over plain http. */
export function authorizerOf(connection: Connection, around: Omit<ExecSurroundings, 'closed'>, now: () => number = Date.now): Authorizer {
  const closed = new AbortController();
  const surroundings = { ...around, closed: closed.signal };
  const renewable = Boolean(connection.user.exec || connection.user.tokenFile || connection.user['auth-provider']);
  let pending: Promise<Obtained> | undefined;
  let cached: Obtained | undefined;
  return {
    current() {
      if (cached && now() < cached.expiresAt) return cached.credential;
      // Requests that start together wait for one run of the plugin.
      pending ??= obtain(connection, surroundings, now).finally(() => {
        pending = undefined;
      });
      return pending.then((obtained) => {
        cached = obtained;
        return obtained.credential;
      });
    },
    refresh(used) {
      // Of several requests refused together only the first forgets it; the others find the new credential.
      if (renewable && cached?.credential === used) cached = undefined;
      return renewable;
    },
    close: () => closed.abort(),
  };
}

async function obtain(connection: Connection, surroundings: ExecSurroundings, now: () => number): Promise<Obtained> {
  const { user } = connection;
  const never = Number.POSITIVE_INFINITY;
  if (connection.server.startsWith('http://')) return { credential: {}, expiresAt: never };
  const certificate = certificateOf(user);
  // As in kubectl the file wins over a token beside it, as long as it can be read.
  if (user.tokenFile)
    return { credential: { ...certificate, ...(await fileToken(user.tokenFile, user.token)) }, expiresAt: now() + TOKEN_FILE_MS };
  if (user.token) return { credential: { ...certificate, authorization: `Bearer ${user.token}` }, expiresAt: never };
  if (user.username) {
    const basic = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
    return { credential: { ...certificate, authorization: `Basic ${basic}` }, expiresAt: never };
  }
  if (certificate.certificate) return { credential: certificate, expiresAt: never };
  if (user.exec) return runExecPlugin(user.exec, connection, surroundings);
  if (user['auth-provider']) return fromProvider(connection, now);
  return { credential: {}, expiresAt: never };
}

function certificateOf(user: UserEntry): Credential {
  const certificate = user['client-certificate-data'];
  const key = user['client-key-data'];
  return certificate && key
    ? { certificate: Buffer.from(certificate, 'base64').toString(), key: Buffer.from(key, 'base64').toString() }
    : {};
}

async function fileToken(file: string, otherwise: string | undefined): Promise<Credential> {
  try {
    return { authorization: `Bearer ${(await readFile(file, 'utf8')).trim()}` };
  } catch (thrown) {
    if (otherwise) return { authorization: `Bearer ${otherwise}` };
    throw new Fault('failed', `the token file cannot be read: ${messageOf(thrown)}`, ['correct tokenFile in the kubeconfig']);
  }
}

async function fromProvider(connection: Connection, now: () => number): Promise<Obtained> {
  const name = connection.user['auth-provider']?.name ?? '';
  try {
    const { authorizationOfProvider } = await import('./client-node.ts');
    const authorization = await authorizationOfProvider(connection);
    if (!authorization) throw new Error('it is not known, or nobody has logged in');
    return { credential: { authorization }, expiresAt: now() + TOKEN_FILE_MS };
  } catch (thrown) {
    throw new Fault(
      'failed',
      `auth-provider "${name}" gave no credential: ${messageOf(thrown)}`,
      ['log in again with the tool of your provider'],
      thrown,
    );
  }
}

type Headers = Readonly<Record<string, string | string[]>>;

/** Impersonation as kubectl sends it: one header line per group and per extra value. */
export function impersonationHeaders(connection: Connection): Headers {
  const { as, 'as-uid': uid, 'as-groups': groups = [], 'as-user-extra': extra = {} } = connection.user;
  if (!as) return {};
  const extras = Object.entries(extra ?? {}).map(([key, values]) => [`Impersonate-Extra-${escapeKey(key)}`, values.map(headerText)]);
  return {
    'Impersonate-User': headerText(as),
    ...(uid ? { 'Impersonate-Uid': headerText(uid) } : {}),
    ...(groups && groups.length > 0 ? { 'Impersonate-Group': groups.map(headerText) } : {}),
    ...Object.fromEntries(extras),
  };
}

/** Header values go out as UTF-8 bytes, which Node only takes as Latin-1 text. */
function headerText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

/** Bytes that a header name cannot hold are percent-encoded, `%` itself too. */
function escapeKey(key: string): string {
  return [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9!#$&'*+\-.^_`|~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/** The texts of `Warning: 299 - "…"` headers (RFC 7234 §5.5), from the raw header list. */
export function warningTexts(rawHeaders: readonly string[]): readonly string[] {
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'warning');
  return values.flatMap((value) =>
    [...value.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => (text ?? '').replace(/\\(.)/g, '$1')),
  );
}
