import type { ConnectionFlags } from '../adapters/kubeconfig/connection.ts';
import type { CommonFlags } from './seams.ts';

/** kubectl's flags for the adapters, without `-n`: it filters lists, and must not decide where kubectl puts a document. */
export function connectionFlagsOf(flags: CommonFlags): ConnectionFlags {
  const all = {
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    cluster: flags.cluster,
    user: flags.user,
    server: flags.server,
    token: flags.token,
    as: flags.as,
    asGroup: flags['as-group'],
    asUid: flags['as-uid'],
    requestTimeout: flags['request-timeout'],
    insecureSkipTlsVerify: flags['insecure-skip-tls-verify'],
    certificateAuthority: flags['certificate-authority'],
    clientCertificate: flags['client-certificate'],
    clientKey: flags['client-key'],
    tlsServerName: flags['tls-server-name'],
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
