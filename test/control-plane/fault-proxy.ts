import { writeFile } from 'node:fs/promises';
import { Agent, createServer } from 'node:https';
import type { ApiAccess } from './api.ts';
import { createAuthority } from './certificates.ts';
import { kubeconfigText } from './keys.ts';
import { listening } from './listening.ts';
import { ProxyForward } from './proxy-forward.ts';

export interface FaultProxyOptions {
  /** The server behind, and as whom it is asked; headers of impersonation pass through. */
  readonly behind: ApiAccess;
  /** Where to write a kubeconfig (0600) that leads here and nowhere else. */
  readonly kubeconfigPath: string;
  /** Keep the bodies of writes in the log. */
  readonly bodies?: boolean;
  /** How long `silence-after` says nothing before it cuts the connection; 1500 unless said. Milliseconds. */
  readonly silenceMs?: number;
  /** After so many minutes it ends, whatever happens; 15 unless said. */
  readonly maxMinutes?: number;
}

/**
 * A proxy on loopback before an API server, which counts every request and can spoil one; `access` through it is for clients that read no
 * kubeconfig.
 */
export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

const MINUTE_MS = 60_000;

/** Starts a proxy of its own certificate authority: what is known here is of no use at the server behind. */
export async function startFaultProxy(options: FaultProxyOptions) {
  const authority = createAuthority('test-proxy-authority');
  const own = authority.issue({ commonName: 'fault-proxy', hosts: ['127.0.0.1', 'localhost'] });
  const client = authority.issue({ commonName: 'fault-proxy-client' });
  const { behind, kubeconfigPath, bodies = false, silenceMs = 1500 } = options;
  const agent = new Agent({ keepAlive: true, ca: behind.authority, cert: behind.certificate, key: behind.key });
  const forward = new ProxyForward({ agent, server: behind.server, bodies, silenceMs, cut: () => cut() });
  // Only HTTP/1.1 is offered: kubectl then speaks it too, and one connection carries one request at a time.
  const tls = { cert: own.certificate, key: own.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...tls, ALPNProtocols: ['http/1.1'] }, (request, response) => void forward.serve(request, response));
  server.on('connection', (socket) => forward.isCut && socket.destroy());
  const { port, cut, close } = await listening(server);
  const access = { server: `https://127.0.0.1:${port}`, authority: authority.certificate, ...client };
  await writeFile(kubeconfigPath, kubeconfigText(access), { mode: 0o600 });
  const stop = async () => {
    clearTimeout(limit);
    agent.destroy();
    await close();
  };
  const limit = setTimeout(() => void stop(), (options.maxMinutes ?? 15) * MINUTE_MS).unref();
  return Object.assign(forward, { access, kubeconfigPath, stop });
}
