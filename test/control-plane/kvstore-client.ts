import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { patient } from '../support/patience.ts';
import type { Identity } from './certificates.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const plain = (text: string): string => Buffer.from(text, 'base64').toString();

/** What a key-value store holds that asks for client certificates. */
export function storeClient(url: string, ca: string, { certificate: cert, key }: Identity) {
  const call = async (path: string, body: object): Promise<unknown> => {
    const asked = request(new URL(path, url), { method: 'POST', ca, cert, key, agent: false, signal: AbortSignal.timeout(patient(5000)) });
    asked.end(JSON.stringify(body));
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const said = await text(response);
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${said}`);
    return JSON.parse(said);
  };
  const range = async (body: object): Promise<ReadonlyMap<string, string>> => {
    const { kvs = [] } = (await call('/v3/kv/range', body)) as { kvs?: readonly { key: string; value: string }[] };
    return new Map(kvs.map(({ key, value }) => [plain(key), plain(value)]));
  };
  return {
    status: () => call('/v3/maintenance/status', {}),
    put: (key: string, value: string) => call('/v3/kv/put', { key: encoded(key), value: encoded(value) }),
    get: async (key: string) => (await range({ key: encoded(key) })).get(key),
    /** Values by key, of all keys that begin so, in the order of the keys. */
    list(prefix: string) {
      const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
      return range({ key: encoded(prefix), range_end: encoded(end) });
    },
    remove: (key: string) => call('/v3/kv/deleterange', { key: encoded(key) }),
  };
}
