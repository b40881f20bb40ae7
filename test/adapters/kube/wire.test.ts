import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { droppingIdle, IDLE_LIMIT_MS } from '../../../src/adapters/kube/wire.ts';
import { type Loopback, sendJson, serve } from '../../support/loopback-server.ts';

describe('connections that were idle', () => {
  let server: Loopback;
  let agent: Agent;
  let now = 0;
  let drop: () => void;
  before(async () => {
    server = await serve((_, response) => sendJson(response, {}));
  });
  beforeEach(() => {
    agent = new Agent({ keepAlive: true, maxSockets: 4 });
    drop = droppingIdle(agent, () => now);
  });
  afterEach(() => agent.destroy());
  after(() => server.close());

  /** Number of connections that so many writes at the same time needed anew. */
  async function write(count = 1): Promise<number> {
    const before = server.connections();
    drop();
    await Promise.all(
      Array.from({ length: count }, async () => {
        const sent = request(server.url, { method: 'PUT', agent }).end();
        const [message] = (await once(sent, 'response')) as [IncomingMessage];
        await once(message.resume(), 'end');
      }),
    );
    // The agent takes a connection back in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    return server.connections() - before;
  }

  it('serve the next write at once', async () => {
    assert.equal(await write(), 1);
    now += IDLE_LIMIT_MS - 1;
    assert.equal(await write(), 0);
  });

  it('are not written to after the limit: the server may be closing them', async () => {
    assert.equal(await write(), 1);
    now += IDLE_LIMIT_MS + 1;
    assert.equal(await write(), 1);
    assert.equal(await write(), 0);
  });

  it('are dropped one by one: those in use meanwhile stay', async () => {
    assert.equal(await write(3), 3);
    now += IDLE_LIMIT_MS - 1;
    assert.equal(await write(), 0);
    now += 2;
    assert.equal(await write(), 0);
    assert.equal(await write(3), 2);
  });
});
