import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ApiAccess } from './api.ts';
import { createAuthority } from './certificates.ts';
import { kubeconfigText } from './keys.ts';
import { FaultSwitch } from './proxy-fault-switch.ts';
import type { ArmedFault } from './proxy-faults.ts';
import { ProxyForward } from './proxy-forward.ts';
import { type LoggedRequest, openLog } from './proxy-log.ts';

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

/** A proxy on loopback before an API server, which counts every request and can spoil one. */
export interface FaultProxy {
  readonly url: string;
  /** Access through it, for clients that read no kubeconfig. */
  readonly access: ApiAccess;
  readonly kubeconfigPath: string;
  /** Every request since the start, in order of arrival; entries grow as their answers come. */
  readonly requests: readonly LoggedRequest[];
  /** Spoils one request from now on, in place of any other armed fault. */
  arm(fault: ArmedFault): void;
  /** Ends the fault and lets clients through again; the request that it struck, if it did. */
  disarm(): LoggedRequest | undefined;
  /** The next answer to each question is its first one: work that is repeated counts its repeated reads as it did the first time. */
  forgetAnswers(): void;
  /** Id under which the server's audit log has a request of this proxy. */
  auditId(request: LoggedRequest): string;
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;

/** Starts a proxy of its own certificate authority: what is known here is of no use at the server behind. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const authority = createAuthority('test-proxy-authority');
  const own = authority.issue({ commonName: 'fault-proxy', hosts: ['127.0.0.1', 'localhost'] });
  const client = authority.issue({ commonName: 'fault-proxy-client' });
  const sockets = new Set<Socket>();
  const faults = new FaultSwitch(() => {
    for (const socket of sockets) socket.destroy();
  });
  const { behind } = options;
  const agent = new Agent({ keepAlive: true, ca: behind.authority, cert: behind.certificate, key: behind.key });
  const log = openLog();
  const forward = new ProxyForward({
    agent,
    faults,
    log,
    server: behind.server,
    bodies: options.bodies ?? false,
    silenceMs: options.silenceMs ?? 1500,
  });
  // Only HTTP/1.1 is offered: kubectl then speaks it too, and one connection carries one request at a time.
  const tls = { cert: own.certificate, key: own.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...tls, ALPNProtocols: ['http/1.1'] }, (request, response) => void forward.serve(request, response));
  const url = await listen(server, sockets, faults);
  const access = { server: url, authority: authority.certificate, certificate: client.certificate, key: client.key };
  await writeFile(options.kubeconfigPath, kubeconfigText(access), { mode: 0o600 });
  const stop = async () => {
    clearTimeout(limit);
    for (const socket of sockets) socket.destroy();
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const limit = setTimeout(() => void stop(), (options.maxMinutes ?? 15) * MINUTE_MS).unref();
  return {
    url,
    access,
    stop,
    kubeconfigPath: options.kubeconfigPath,
    requests: log.requests,
    arm: (fault) => faults.arm(fault),
    disarm: () => faults.disarm(),
    forgetAnswers: () => forward.forgetAnswers(),
    auditId: (request) => forward.auditId(request.number),
  };
}

async function listen(server: Server, sockets: Set<Socket>, faults: FaultSwitch): Promise<string> {
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    if (faults.isCut) return void socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
