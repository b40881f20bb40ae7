import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SocksServer {
  readonly url: string;
  /** What was asked for: a name as it is, an address as `address`. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A small SOCKS 5 proxy without a login that leads everything to one port of loopback. */
export async function serveSocks(port: number): Promise<SocksServer> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request) => {
        const isName = request[3] === 3;
        asked.push(isName ? request.subarray(5, 5 + (request[4] ?? 0)).toString() : 'address');
        const upstream = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]));
          upstream.pipe(socket).pipe(upstream);
        });
        sockets.add(upstream);
        upstream.on('error', () => socket.destroy());
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `socks5://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
