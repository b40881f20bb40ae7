import type { IncomingMessage, RequestOptions } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { isPassingStatus } from '../../kernel/ports.ts';
import { proxyAgent } from '../artifacts/https-fetch.ts';
import { plainHttp } from '../bounded-body.ts';
import type { Environment } from '../kubeconfig/connection.ts';

export interface SendOptions {
  readonly env: Environment;
  /** The command ends without it. */
  readonly cut: AbortSignal;
  /** For one attempt, from the name look-up to the head of the answer; 5 s unless said. */
  readonly limitMs?: number;
}

const LIMIT_MS = 5000;
const PAUSE_MS = 500;

/** The other side has said no: it would say so again. */
class Refused extends Error {}

/** Posts one JSON document, and once more where no answer came or the other side is busy. Rejects with why, which never holds the address. */
export async function post(url: URL, text: string, options: SendOptions): Promise<void> {
  try {
    await attempt(url, text, options);
  } catch (thrown) {
    if (thrown instanceof Refused || options.cut.aborted) throw thrown;
    await wait(PAUSE_MS, undefined, { signal: options.cut });
    await attempt(url, text, options);
  }
}

async function attempt(url: URL, text: string, options: SendOptions): Promise<void> {
  const status = await statusOf(url, text, options);
  if (status >= 200 && status < 300) return;
  const because = `the server answered ${status}${status >= 300 && status < 400 ? ', and redirects are not followed' : ''}`;
  throw isPassingStatus(status) ? new Error(because) : new Refused(because);
}

async function statusOf(url: URL, text: string, { env, cut, limitMs = LIMIT_MS }: SendOptions): Promise<number> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : plainHttp();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  const over = AbortSignal.any([cut, late.signal]);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  // No variable of the environment turns the check of the certificate off.
  const settings: RequestOptions & { rejectUnauthorized: true } = { method: 'POST', headers, agent: false, rejectUnauthorized: true };
  try {
    const proxied = await proxyAgent(url, { env });
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(url, { ...settings, ...proxied }, resolve);
      // A request without a socket does not say that it was ended.
      over.addEventListener('abort', () => reject(over.reason), { once: true });
      over.addEventListener('abort', () => sent.destroy(), { once: true });
      sent.on('error', reject);
      sent.on('close', () => reject(new Error('the connection ended without an answer')));
      sent.end(text);
    });
    answer.on('error', () => undefined);
    answer.destroy();
    return answer.statusCode ?? 0;
  } finally {
    clearTimeout(timer);
  }
}
