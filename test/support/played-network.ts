import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** `nc` with what the scripts of the network probe use of it, on real sockets. */
const NC = `
const net = require('node:net');
const args = process.argv.slice(2);
const join = (socket) => {
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  socket.on('error', (error) => { console.error('nc: ' + error.code); process.exit(1); });
  socket.on('close', () => process.exit(0));
};
process.stdin.on('error', () => undefined);
process.stdout.on('error', () => process.exit(1));
if (args[0] === '-l') {
  const server = net.createServer((socket) => { server.close(); join(socket); });
  server.on('error', (error) => { console.error('nc: ' + error.code); process.exit(1); });
  server.listen(Number(args[2]), process.env.LISTEN_ON || '127.0.0.1');
} else join(net.connect(Number(args[1]), args[0]));
`;

/** Puts `nc` into a folder that is to be the PATH of a script. */
export async function writeNc(folder: string): Promise<void> {
  await writeFile(join(folder, 'nc.cjs'), NC);
  await writeFile(join(folder, 'nc'), `#!/bin/sh\nexec '${process.execPath}' '${join(folder, 'nc.cjs')}' "$@"\n`, { mode: 0o755 });
}

/** Starts the program of a pod as a process of this machine; `said` is its log. */
export function startPod(shell: string, command: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(shell, [...command], { env: { ...env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const pod = { child, said: '', end: () => endGroup(child) };
  child.stdout.on('data', (chunk) => {
    pod.said += String(chunk);
  });
  return pod;
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
}

/** A network between a pod that dials and the ports of one that answers, which a test disturbs; it times what it lets through. */
export class PlayedNetwork {
  /** Longest time between two pieces that it let through to the pod that dials, in milliseconds. */
  longestMs = 0;
  /** Answers that it let through. */
  lines = 0;
  /** Connections that it reset. */
  resets = 0;
  readonly #servers: Server[] = [];
  readonly #pairs = new Set<readonly [near: Socket, far: Socket]>();
  readonly #held: (() => void)[] = [];
  #isHolding = false;
  #isClosed = false;
  #last: number | undefined;

  /** One port for each of the other end, at a loopback address. Resolves to the first, which the others follow. */
  async open(address: string, ports: readonly number[], first: number): Promise<void> {
    for (const [index, port] of ports.entries()) {
      const server = createServer((near) => this.#join(near, port));
      this.#servers.push(server);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(first + index, address, resolve);
      });
    }
  }

  /** Nothing comes through, and nothing is lost, until `release`. */
  hold(): void {
    this.#isHolding = true;
  }

  release(): void {
    this.#isHolding = false;
    for (const let_ of this.#held.splice(0)) let_();
  }

  /** Nothing comes through any more on the connections that there are, and neither end is told; new ones work. */
  strand(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** Ends every connection as a machine does that knows nothing of it, and takes no new one until `reopen`. */
  reset(): void {
    this.#isClosed = true;
    for (const [near, far] of this.#pairs) {
      this.resets += 1;
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.#pairs.clear();
  }

  reopen(): void {
    this.#isClosed = false;
  }

  close(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    for (const server of this.#servers) server.close();
  }

  #join(near: Socket, port: number): void {
    if (this.#isClosed) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
    near.on('data', (chunk) => void far.write(chunk));
    far.on('data', (chunk) => (this.#isHolding ? this.#held.push(() => this.#pass(near, chunk)) : this.#pass(near, chunk)));
  }

  #pass(near: Socket, chunk: Buffer): void {
    if (near.destroyed) return;
    const now = performance.now();
    if (this.#last !== undefined) this.longestMs = Math.max(this.longestMs, now - this.#last);
    this.#last = now;
    this.lines += chunk.toString().split('\n').length - 1;
    near.write(chunk);
  }
}

/** As many ports in a row that nothing listens on now. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return Array.from({ length: count }, (_, index) => port + index);
}
