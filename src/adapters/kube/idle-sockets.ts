import type { Agent } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Idle time after which no write goes out on a kept-alive connection, milliseconds. Servers and the balancers before them close
 * connections that are idle, the shortest after some seconds; a process that has just read a large file learns of it too late.
 * A write whose connection breaks may have been done, so that it cannot simply be sent again; a new connection costs a few milliseconds.
 */
export const IDLE_LIMIT_MS = 2_000;

/** Call the result before each write: it drops the connections of the agent that have been idle for too long. */
export function droppingIdle(agent: Agent, now: () => number = () => performance.now()): () => void {
  const freedAt = new WeakMap<object, number>();
  agent.on('free', (socket: Socket) => freedAt.set(socket, now()));
  return () => {
    const limit = now() - IDLE_LIMIT_MS;
    for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) {
      if ((freedAt.get(socket) ?? 0) < limit) socket.destroy();
    }
  };
}
