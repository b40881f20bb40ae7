import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** An HTTP proxy that answers byte by byte, without an end. */
export async function drippingProxy(): Promise<{ readonly url: string; close(): void }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\nX: ');
    const more = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(more));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
