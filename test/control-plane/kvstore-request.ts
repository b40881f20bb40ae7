import { request } from 'node:https';
import type { Identity } from './certificates.ts';

/** One request of a key-value store that asks for client certificates; resolves with the body of a good answer. */
export function askStore(url: URL, ca: string, { certificate, key }: Identity, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', ca, cert: certificate, key, agent: false, timeout: 5000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`))));
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
    asked.end(body);
  });
}
