import { resolve } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import type { ClusterEntry, ConnectionFlags, UserEntry } from './connection.ts';

/**
 * kubectl's rules for flags that change a cluster: another server clears the server name of its certificate,
 * a certificate authority or skipping verification replaces both as a pair.
 */
export function overrideCluster(cluster: ClusterEntry, flags: ConnectionFlags): ClusterEntry {
  const changed: { -readonly [key in keyof ClusterEntry]: ClusterEntry[key] } = { ...cluster };
  if (flags.server) changed.server = flags.server;
  if (flags.server || flags.tlsServerName) changed['tls-server-name'] = flags.tlsServerName;
  if (flags.insecureSkipTlsVerify || flags.certificateAuthority) {
    changed['insecure-skip-tls-verify'] = flags.insecureSkipTlsVerify ?? false;
    changed['certificate-authority'] = flags.certificateAuthority ? resolve(flags.certificateAuthority) : undefined;
    changed['certificate-authority-data'] = undefined;
  }
  const hasAuthority = changed['certificate-authority'] || changed['certificate-authority-data'];
  if (changed['insecure-skip-tls-verify'] && hasAuthority)
    throw new Fault('usage', 'a certificate authority and insecure-skip-tls-verify exclude each other', [
      'leave one of them out (flags, or the cluster entry of the kubeconfig)',
    ]);
  return changed;
}

/**
 * kubectl's rules for flags that change a user: a certificate replaces the one in the kubeconfig. A token does not replace a token file, which
 * wins over it as long as it can be read: whoever asks must be whom kubectl would ask as.
 */
export function overrideUser(user: UserEntry, flags: ConnectionFlags): UserEntry {
  const changed: { -readonly [key in keyof UserEntry]: UserEntry[key] } = { ...user };
  if (flags.token) changed.token = flags.token;
  if (flags.clientCertificate) {
    changed['client-certificate'] = resolve(flags.clientCertificate);
    changed['client-certificate-data'] = undefined;
  }
  if (flags.clientKey) {
    changed['client-key'] = resolve(flags.clientKey);
    changed['client-key-data'] = undefined;
  }
  if (flags.as) changed.as = flags.as;
  if (flags.asUid) changed['as-uid'] = flags.asUid;
  if (flags.asGroup && flags.asGroup.length > 0) changed['as-groups'] = flags.asGroup;
  refuseHalfImpersonation(changed);
  return changed;
}

function refuseHalfImpersonation(user: UserEntry): void {
  const extras = Boolean(user['as-uid']) || (user['as-groups']?.length ?? 0) > 0 || Object.keys(user['as-user-extra'] ?? {}).length > 0;
  if (extras && !user.as)
    throw new Fault('usage', 'groups, a UID or extra fields to impersonate were given without a user', ['name the user with --as']);
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
