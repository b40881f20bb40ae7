import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Played } from './played.ts';

/**
 * The network of services that a machine without containers does not have. kube-apiserver dials services through it (HTTP CONNECT
 * on a socket), so the registration of an aggregated API can be the published one, with an address that nobody listens on. Every service
 * is at this port of loopback.
 */
export async function playClusterNetwork(socket: string, service: number): Promise<Played> {
  const open = new Set<Socket>();
  const server = createServer();
  server.on('connect', (request, client: Socket, head: Buffer) => {
    const { hostname, port } = new URL(`tcp://${request.url}`);
    open.add(client);
    client.on('close', () => open.delete(client));
    join(client, isLoopback(hostname) ? Number(port) : service, head);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await closed;
    },
  };
}

const isLoopback = (host: string): boolean => host === 'localhost' || host.startsWith('127.');

function join(client: Socket, port: number, head: Buffer): void {
  const server = connect(port, '127.0.0.1', () => {
    client.write('HTTP/1.1 200 Connected\r\n\r\n');
    server.write(head);
    client.pipe(server).pipe(client);
  });
  server.on('error', () => client.destroy());
  client.on('error', () => server.destroy());
  server.on('close', () => client.destroy());
  client.on('close', () => server.destroy());
}
