import type { Connection } from '../kubeconfig/connection.ts';

export type Headers = Readonly<Record<string, string | readonly string[]>>;

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
