import type { Connection } from '../kubeconfig/connection.ts';

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
