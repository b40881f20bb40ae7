import { connect, createServer } from 'node:net';
import { listening } from '../control-plane/listening.ts';

export interface SocksServer {
  readonly url: string;
  /** What was asked for: a name as it is, an address as `address`. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A small SOCKS 5 proxy without a login that leads everything to one port of loopback. */
export async function serveSocks(to: number): Promise<SocksServer> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request) => {
        const isName = request[3] === 3;
        asked.push(isName ? request.subarray(5, 5 + (request[4] ?? 0)).toString() : 'address');
        const upstream = connect(to, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]));
          upstream.pipe(socket).pipe(upstream);
        });
        upstream.on('error', () => socket.destroy());
        socket.on('close', () => upstream.destroy());
      });
    });
  });
  const { port, close } = await listening(server);
  return { url: `socks5://127.0.0.1:${port}`, asked, close };
}

/** An HTTP proxy that answers byte by byte, without an end. */
export async function drippingProxy(): Promise<Pick<SocksServer, 'url' | 'close'>> {
  const server = createServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX: ');
    const more = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(more));
  });
  const { port, close } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, close };
}
