import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/**
 * Below the range from which the system takes ports for outgoing connections: a part that starts seconds later
 * must still find its port free, although the other parts connect to each other all the while.
 */
const LOWEST = 18_000;
const HIGHEST = 32_000;
const ATTEMPTS = 50;

/** Ports of the loopback address that nobody listens on now; all different, because all are held until the last is known. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listen));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function listen(): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    try {
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      return server;
    } catch (thrown) {
      if (attempt === ATTEMPTS) throw thrown;
    }
  }
}
