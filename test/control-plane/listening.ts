import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { basename, join } from 'node:path';

export interface Listening {
  readonly port: number;
  /** Cuts every connection. */
  cut(): void;
  /** Cuts every connection, and resolves once none is left. */
  close(): Promise<void>;
}

/** The server once it listens on loopback, on a port that is free. What a client does to its own connection is nobody's failure. */
export async function listening(server: Server): Promise<Listening> {
  // What is still greeting is no connection to an HTTPS server yet, and would be waited for.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

/** Serves the files of a folder by their names, over HTTP. */
export async function serveFolder(folder: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const file = join(folder, basename(request.url ?? ''));
    if (existsSync(file)) createReadStream(file).pipe(response);
    else response.writeHead(404).end();
  });
  const { port, close } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, close };
}
