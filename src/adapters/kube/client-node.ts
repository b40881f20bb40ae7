// The one file that touches client-node, loaded by import() only where a connection needs it. Named imports here let the bundler drop the
// generated client: half a second of start-up.
import type { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import type { Connection } from '../kubeconfig/connection.ts';

/** The Authorization header of a kubeconfig `auth-provider` (OIDC with its refresh token, and the providers of clouds). */
export async function authorizationOfProvider(connection: Connection): Promise<string | undefined> {
  const options = await libraryOptions(connection);
  const headers = options.headers as Readonly<Record<string, unknown>> | undefined;
  const value = headers?.Authorization;
  return typeof value === 'string' ? value : undefined;
}

type Target = Pick<Connection, 'server' | 'cluster' | 'user'>;

/** An agent that goes through a SOCKS proxy. As with kubectl, the proxy resolves the name, which may be unknown here. */
export async function socksAgent(target: Omit<Target, 'user'>, proxyUrl: string): Promise<Agent> {
  const far = proxyUrl.replace(/^socks5:/, 'socks5h:');
  const options = await libraryOptions({ ...target, user: {}, cluster: { ...target.cluster, 'proxy-url': far } });
  if (!options.agent) throw new Error(`no agent for ${proxyUrl}`);
  return options.agent as Agent;
}

async function libraryOptions(connection: Target): Promise<RequestOptions> {
  const { cluster, user } = connection;
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [
      {
        name: 'c',
        server: connection.server,
        caData: cluster['certificate-authority-data'],
        skipTLSVerify: cluster['insecure-skip-tls-verify'] ?? false,
        tlsServerName: cluster['tls-server-name'],
        proxyUrl: cluster['proxy-url'],
      },
    ],
    users: [{ name: 'u', authProvider: user['auth-provider'] }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}
