import { Agent, request } from 'node:https';
import { METADATA_ONE } from '../src/adapters/kube/items.ts';
import { JSON_PATCH } from '../src/adapters/kube/read.ts';
import type { ApiAccess } from '../test/control-plane/api.ts';

interface PatchRequest {
  /** With its query. */
  readonly path: string;
  /** JSON patch, as text. */
  readonly body: string;
}

const CONNECTIONS = 32;

/** Sends the patches as fast as the server takes them, as this program words them and with nothing around them; milliseconds. Throws on any refusal. */
export async function patchLoad(access: ApiAccess, patches: readonly PatchRequest[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca: access.authority, cert: access.certificate, key: access.key });
  const queue = patches[Symbol.iterator]();
  const worker = async () => {
    for (const patch of queue) await send(agent, access.server, patch);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const took = performance.now() - started;
  agent.destroy();
  return took;
}

function send(agent: Agent, server: string, { path, body }: PatchRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ accept: METADATA_ONE, 'user-agent': 'patch-load' },
      ...{ 'content-type': JSON_PATCH, 'content-length': Buffer.byteLength(body) },
    };
    const asked = request(server + path, { agent, method: 'PATCH', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${answer.statusCode}`))));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
