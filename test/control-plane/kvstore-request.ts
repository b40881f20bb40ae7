import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Identity } from './certificates.ts';

/** One request of a key-value store that asks for client certificates; resolves with the body of a good answer. */
export async function askStore(url: URL, ca: string, { certificate, key }: Identity, body: string): Promise<string> {
  const asked = request(url, { method: 'POST', ca, cert: certificate, key, agent: false, signal: AbortSignal.timeout(5000) });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const said = await text(response);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${said}`);
  return said;
}
