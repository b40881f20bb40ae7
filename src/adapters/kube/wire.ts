import type { Agent, ClientRequest, IncomingMessage, RequestOptions as PlainOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { plainHttp } from '../bounded-body.ts';
import { uptimeMs } from '../clock.ts';
import type { Connection } from '../kubeconfig/connection.ts';
import type { Credential } from './auth.ts';

type TlsOptions = Pick<ConnectionOptions, 'secureContext' | 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;

/** Connections of one process to one API server that read and try: enough to do so in parallel, few enough for priority and fairness. */
const READING = 8;
/** Connections of watches, which last: among those for reading, the ninth watch would leave none for a question. */
const WATCHING = 64;
/** Connections that write. Fewer would leave the store idle, which makes many writes durable at once (`engine/patch-all.ts`). */
const WRITING = 32;

/** Kept-alive connections to the API server with one client certificate (or none). */
export interface Wire {
  readonly secure: boolean;
  readonly compressed: boolean;
  /** `writes`: on a connection for writing. */
  open(path: string, options: PlainOptions & { readonly writes: boolean }, answer: (message: IncomingMessage) => void): ClientRequest;
  close(): void;
}

/** The certificate of the credential belongs to the connection, the rest of it to each request. */
export async function openWire(connection: Connection, credential: Credential): Promise<Wire> {
  const base = new URL(connection.server);
  const secure = base.protocol === 'https:';
  const { request } = secure ? await import('node:https') : plainHttp();
  const tls = secure ? await tlsOptions(connection, credential) : {};
  const [reading, watching, writing] = [
    await agentOf(connection, base, { tls, sockets: READING }),
    await agentOf(connection, base, { tls, sockets: WATCHING }),
    await agentOf(connection, base, { tls, sockets: WRITING }),
  ];
  const place = urlToHttpOptions(base);
  const root = base.pathname.replace(/\/$/, '');
  const dropIdle = droppingIdle(writing);
  const compressed = !isLoopback(base.hostname) && connection.cluster['disable-compression'] !== true;
  return {
    secure,
    compressed,
    // The options are repeated for each request, because a tunnelling agent makes the inner TLS from them.
    open: (path, { writes, ...options }, answer) => {
      if (writes) dropIdle();
      const agent = writes ? writing : isWatch(path) ? watching : reading;
      return request({ ...tls, ...place, path: root + path.replace(/[^!-~]/gu, encodeURIComponent), ...options, agent }, answer);
    },
    close: () => {
      reading.destroy();
      watching.destroy();
      writing.destroy();
    },
  };
}

const isWatch = (path: string): boolean => /[?&]watch=1(?:&|$)/.test(path);

async function tlsOptions(connection: Connection, credential: Credential): Promise<TlsOptions> {
  const { cluster } = connection;
  const authority = cluster['certificate-authority-data'];
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  const servername = cluster['tls-server-name'];
  const ca = authority ? Buffer.from(authority, 'base64').toString() : insecure ? undefined : await systemAuthorities();
  const own = { ...(ca ? { ca } : {}), ...(credential.certificate ? { cert: credential.certificate, key: credential.key } : {}) };
  return {
    ...read(own),
    ...(servername ? { servername } : {}),
    rejectUnauthorized: !insecure,
  };
}

/** Read once for all connections. What cannot be read is left for the connection to refuse, whose error says so. */
function read(own: Pick<TlsOptions, 'ca' | 'cert' | 'key'>): TlsOptions {
  try {
    return { secureContext: process.getBuiltinModule('node:tls').createSecureContext(own) };
  } catch {
    return own;
  }
}

/** Through a tunnel Node no longer knows an address that it dialled and would check the certificate against `localhost`. */
async function addressCheck(server: URL): Promise<Pick<ConnectionOptions, 'checkServerIdentity'>> {
  const { isIP } = await import('node:net');
  const address = server.hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) === 0) return {};
  const { checkServerIdentity } = await import('node:tls');
  return { checkServerIdentity: (_host, certificate) => checkServerIdentity(address, certificate) };
}

/** Node's list and the machine's: kubectl trusts what the machine trusts. */
async function systemAuthorities(): Promise<string[] | undefined> {
  const tls = await import('node:tls');
  if (typeof tls.getCACertificates !== 'function') return undefined;
  return [...new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])];
}

interface Pool {
  readonly tls: TlsOptions;
  readonly sockets: number;
}

async function agentOf(connection: Connection, base: URL, { tls, sockets }: Pool): Promise<Agent> {
  const pool = { keepAlive: true, maxSockets: sockets, maxFreeSockets: sockets };
  const proxy = proxyOf(connection, base);
  if (proxy) {
    const tunnel = proxy.startsWith('socks')
      ? await (await import('./client-node.ts')).socksAgent(connection, proxy)
      : new (await import('https-proxy-agent')).HttpsProxyAgent(proxy, pool);
    // On the agent, not on each request: Node pools connections with their own check separately.
    const { options } = tunnel as unknown as { readonly options: object };
    if (!tls.servername) Object.assign(options, await addressCheck(base));
    return tunnel;
  }
  const agent = base.protocol === 'http:' ? new (plainHttp().Agent)(pool) : new (await import('node:https')).Agent({ ...pool, ...tls });
  // This agent has one server and one certificate. Node would build and look up a name of kilobytes several times a request.
  return Object.assign(agent, { getName: () => base.host });
}

/**
 * Idle milliseconds after which a kept-alive connection sends no write: servers and load balancers close idle ones, and a busy process
 * notices too late. A write that breaks off may have been done and cannot be resent; a new connection costs a few milliseconds.
 */
export const IDLE_LIMIT_MS = 2_000;

/** Call the result before each write: it drops the connections of the agent that have been idle for too long. */
export function droppingIdle(agent: Agent, now: () => number = uptimeMs): () => void {
  const freedAt = new WeakMap<object, number>();
  agent.on('free', (socket: Socket) => freedAt.set(socket, now()));
  return () => {
    const limit = now() - IDLE_LIMIT_MS;
    for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) {
      if ((freedAt.get(socket) ?? 0) < limit) socket.destroy();
    }
  };
}

/** True for localhost, 127.0.0.0/8 and ::1: never proxied by the environment, never compressed. */
export function isLoopback(host: string): boolean {
  const plain = bare(host);
  return plain === 'localhost' || plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/** The proxy of a connection: the kubeconfig's own, else that of the environment by kubectl's (Go's) rules. */
export function proxyOf(
  connection: Pick<Connection, 'env'> & { readonly cluster: Pick<Connection['cluster'], 'proxy-url'> },
  target: URL,
): string | undefined {
  const own = connection.cluster['proxy-url'];
  if (own) return own;
  const { env } = connection;
  const set = target.protocol === 'https:' ? env.HTTPS_PROXY || env.https_proxy : env.HTTP_PROXY || env.http_proxy;
  if (!set || isLoopback(target.hostname) || bypassed(target, env.NO_PROXY || env.no_proxy || '')) return undefined;
  return set.includes('://') ? set : `http://${set}`;
}

/**
 * Go's NO_PROXY: `*`, addresses, address ranges, `example.org` with all below it, `.example.org` for only those below; each with an
 * optional port. npm's proxy-from-env lacks ranges, which clusters need most.
 */
function bypassed(target: URL, list: string): boolean {
  const host = bare(target.hostname).toLowerCase();
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, host, port));
}

/** Loaded only where there is a list to match; an import would load it in every command. */
const net = () => process.getBuiltinModule('node:net');

function matches(entry: string, host: string, port: string): boolean {
  const range = /^(.+)\/(\d+)$/.exec(entry);
  if (range) return inRange(range[1] ?? '', Number(range[2]), host);
  const split = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry);
  if (split && split[2] !== port) return false;
  const name = bare(split?.[1] ?? entry).replace(/^\*\./, '.');
  if (net().isIP(name)) return name === host;
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}

function inRange(address: string, bits: number, host: string): boolean {
  const { BlockList, isIP } = net();
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || bits > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, bits, type);
  return list.check(host, type);
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
